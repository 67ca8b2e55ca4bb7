// Runs the command line on a newer Node than this one. Plain JavaScript, so that an old Node can read it.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { delimiter, isAbsolute, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const launcher = fileURLToPath(new URL('handrail.cjs', import.meta.url))
const program = process.platform === 'win32' ? 'node.exe' : 'node'

/** Runs the launcher again on a Node of at least this version, with what was read of standard input, and ends as it ends. */
export function startNewNode(needed, read) {
  const node = findNode(needed)
  if (node !== undefined) return startOn(node, read)
  process.stderr.write(
    `handrail: node_too_old: Handrail needs Node ${needed} or later; this is ${process.version}, and no newer one is beside it or on the PATH. Install one from https://nodejs.org, or run: npm install node@${needed}\n`,
  )
  process.exit(2)
}

function startOn(node, input) {
  const child = spawn(node, [launcher, ...process.argv.slice(2)], {
    stdio: [input.length > 0 ? 'pipe' : 'inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, HANDRAIL_LAUNCHED: '1' },
  })
  child.stdin?.on('error', () => {})
  child.stdin?.end(Buffer.concat(input))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`handrail: node_too_old: "${node}" cannot be started: ${error.message}\n`)
    process.exit(2)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 1)))
}

/** The `node` package beside Handrail, else the first new enough one on the PATH. */
function findNode(needed) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => isAbsolute(folder))
  const candidates = [packagedNode(), ...folders.map((folder) => join(folder, program))]
  const tried = new Set([realpathSync(process.execPath)])
  for (const candidate of candidates) {
    if (candidate === undefined || !existsSync(candidate)) continue
    const path = realpathSync(candidate)
    if (tried.has(path)) continue
    tried.add(path)
    const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 10_000 })
    if (majorOf(stdout ?? '') >= needed) return path
  }
  return undefined
}

function packagedNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve('node/package.json')
    return join(dirname(manifest), 'bin', program)
  } catch {
    return undefined
  }
}

/** 24 for `v24.1.0`; NaN, which is not enough, for anything else. */
function majorOf(version) {
  return Number(/^v(\d+)\./.exec(version)?.[1])
}
