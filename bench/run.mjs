// Prints the table: `node bench/run.mjs [--quick] [--only <row>] [--json <file>] [--keep]`. Plain JavaScript, because it installs
// the peers before anything that imports them is loaded.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const bench = dirname(fileURLToPath(import.meta.url))
const root = join(bench, '..')

const usage = `npm run bench -- [options]

  --quick       fewer and shorter rounds
  --only ROW    this row alone
  --json FILE   writes the figures there too
  --keep        keeps the figures in bench/performance.json, for the docs
  --help        shows this
`
const options = readOptions()

installPeers()
const installed = mkdtempSync(join(tmpdir(), 'handrail-bench-installed-'))
try {
  installHandrail(installed)
  const { runBench } = await import('./harness/run-bench.ts')
  const settings = options.quick ? { rounds: 5, roundMs: 20 } : { rounds: 21, roundMs: 50 }
  const { only, json, quick, keep } = options
  const kept = keep ? join(bench, 'performance.json') : undefined
  const complete = await runBench({ ...settings, installed }, { only, json, quick, keep: kept })
  if (keep) npm(['run', '-s', 'docs'], root)
  if (!complete) process.exitCode = 1
} finally {
  rmSync(installed, { recursive: true, force: true })
}

/** What is not an option ends it before anything is installed. */
function readOptions() {
  const flag = { type: 'boolean' }
  const text = { type: 'string' }
  try {
    const { values } = parseArgs({ options: { quick: flag, only: text, json: text, keep: flag, help: flag } })
    if (!values.help) return values
    process.stdout.write(usage)
    process.exit(0)
  } catch (error) {
    process.stderr.write(`bench: ${error.message}\n\n${usage}`)
    process.exit(2)
  }
}

function installPeers() {
  const present = join(bench, 'node_modules', '.package-lock.json')
  const lock = join(bench, 'package-lock.json')
  if (existsSync(present) && statSync(present).mtimeMs >= statSync(lock).mtimeMs) return
  note('installing the peers (npm ci), once')
  npm(['ci', '--prefix', bench, '--no-audit', '--no-fund'], root)
}

/** Builds, packs and installs Handrail, so that what is measured is what users have. */
function installHandrail(directory) {
  note('building and packing Handrail')
  npm(['pack', '--pack-destination', directory], root)
  const tarball = readdirSync(directory).find((name) => name.endsWith('.tgz'))
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }\n')
  npm(['install', '--no-audit', '--no-fund', '--prefer-offline', `./${tarball}`], directory)
}

function npm(args, cwd) {
  const script = process.env.npm_execpath
  const [command, ...before] = script === undefined ? ['npm'] : [process.execPath, script]
  const done = spawnSync(command, [...before, ...args, '--loglevel=error'], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (done.status === 0) return
  throw new Error(`npm ${args[0]} failed: ${done.error?.message ?? done.stdout}`)
}

function note(text) {
  process.stderr.write(`bench: ${text}\n`)
}
