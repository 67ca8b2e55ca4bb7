#!/usr/bin/env node
// Finds a Node that Handrail can run on and starts the command line there. Plain JavaScript, so that an old Node can read it.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import nodeModule from 'node:module'
import { constants } from 'node:os'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const here = fileURLToPath(import.meta.url)
const root = join(dirname(here), '..')
const program = process.platform === 'win32' ? 'node.exe' : 'node'
const needed = 24

/** What was read of standard input, if an agent asks and no server answered. */
const read = isHook(process.argv) && process.env.HANDRAIL_LAUNCHED === undefined ? await askServer() : []
if (read === undefined) {
  // A server answered.
} else if (majorOf(process.version) >= needed) {
  if (process.env.HANDRAIL_LAUNCHED !== undefined) endWithLauncher()
  nodeModule.enableCompileCache?.()
  if (read.length > 0) await putBack(read)
  const source = join(root, 'src', 'cli', 'main.ts')
  const main = existsSync(source) ? source : join(root, 'dist', 'cli', 'main.js')
  const { runMain } = await import(pathToFileURL(main).href)
  await runMain(process.argv.slice(2))
} else {
  const node = findNode()
  if (node === undefined) {
    process.stderr.write(
      `handrail: node_too_old: Handrail needs Node ${needed} or later; this is ${process.version}, and no newer one is beside it or on the PATH. Install one from https://nodejs.org, or run: npm install node@${needed}\n`,
    )
    process.exit(2)
  }
  startOn(node, read)
}

/** Whether an agent asks: that is quicker if a server answers. */
function isHook([, , command, agent]) {
  return command === 'hook' && agent !== undefined && !['install', 'uninstall'].includes(agent)
}

/** Undefined if a running "handrail serve" answered, which is quicker; else what was read of standard input meanwhile. */
async function askServer() {
  const { askServer: ask } = await import('./ask-server.mjs')
  const { code, read: pieces } = await ask(process.argv.slice(3))
  if (code !== undefined) process.exitCode = code
  return pieces
}

/** What was read of standard input stands there again. */
async function putBack(pieces) {
  const { Readable } = await import('node:stream')
  Object.defineProperty(process, 'stdin', { value: Readable.from(pieces), configurable: true })
}

/** Runs this file again on that Node and ends as it ends. */
function startOn(node, input) {
  const child = spawn(node, [here, ...process.argv.slice(2)], {
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

/** A launcher that is killed hands on nothing, and what it started would go on alone. */
function endWithLauncher() {
  delete process.env.HANDRAIL_LAUNCHED
  // Explicitly, so that the listener does not keep the process alive.
  process.channel?.unref()
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
}

/** The `node` package beside Handrail, else the first new enough one on the PATH. */
function findNode() {
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
    const manifest = nodeModule.createRequire(import.meta.url).resolve('node/package.json')
    return join(dirname(manifest), 'bin', program)
  } catch {
    return undefined
  }
}

/** 24 for `v24.1.0`; NaN, which is not enough, for anything else. */
function majorOf(version) {
  return Number(/^v(\d+)\./.exec(version)?.[1])
}
