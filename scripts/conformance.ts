import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startFixture } from '../test/conformance/start-fixture.ts'

/**
 * `npm run conformance`: the suite of the protocol's authors, with what each revision requires. Server scenarios run against a fixture,
 * once directly and once through `handrail serve`; client scenarios against a runtime that imports the server of the suite. The exit
 * code is 1 where a scenario fails that counts.
 */
const sides = ['direct', 'gateway', 'client'] as const
type Side = (typeof sides)[number]
const revisions = ['2025-11-25', '2026-07-28']

const { values } = parseArgs({
  options: {
    side: { type: 'string', multiple: true },
    revision: { type: 'string', multiple: true },
    scenario: { type: 'string', multiple: true },
    verbose: { type: 'boolean', default: false },
  },
})

/** A name that is none would choose nothing, and nothing fails. */
function requireKnown(option: 'side' | 'revision' | 'scenario', known: readonly string[]): void {
  const strange = values[option]?.filter((name) => !known.includes(name)) ?? []
  if (strange.length === 0) return
  console.error(
    `conformance: --${option} "${strange.join('", "')}" is none of these: ${[...new Set(known)].join(', ')}.`,
  )
  process.exit(2)
}

const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))
const requirements = join(suite, '..', '..', 'requirements')
const root = join(import.meta.dirname, '..')

interface Outcome {
  readonly scenario: string
  readonly passed: boolean
  readonly said: string
}

/** The scenarios that a revision counts, as its own list says. */
function scenariosOf(revision: string, leg: 'server' | 'client'): string[] {
  const text = readFileSync(join(requirements, `${revision}.yaml`), 'utf8')
  const part = new RegExp(`^${leg}:\\n((?:[ #].*\\n|\\n)*)`, 'm').exec(text)?.[1] ?? ''
  const names = [...part.matchAll(/^ +- (\S+)$/gm)].map(([, name]) => name ?? '')
  if (names.length === 0) throw new Error(`${revision}.yaml of the suite names no ${leg} scenario.`)
  return names
}

/** Runs the suite for one scenario. One at a time: some of them measure time. */
async function runScenario(scenario: string, revision: string, args: readonly string[]): Promise<Outcome> {
  const child = spawn(
    process.execPath,
    [suite, ...args, '--scenario', scenario, '--spec-version', revision, '-o', join(folder, 'results')],
    // What a client leaves behind that is ended for taking too long goes with the folder.
    { cwd: folder, env: { ...process.env, TMPDIR: folder }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => (said += bytes.toString()))
  const code = await new Promise((resolve) => child.on('close', resolve))
  return { scenario, passed: code === 0 && hasPassed(said), said }
}

/** The suite also ends well with a scenario that it did not run: only one whose checks all succeeded has passed. */
function hasPassed(said: string): boolean {
  const [, passed, of] = /^Passed: (\d+)\/(\d+), 0 failed/m.exec(said) ?? []
  return passed !== undefined && passed === of && Number(passed) > 0
}

/** `handrail serve` in front of the fixture, of a person who lets it do everything. */
async function startGateway(upstream: string): Promise<{ url: string; close(): Promise<void> }> {
  const home = join(folder, 'home')
  const project = join(folder, 'project')
  for (const each of [home, project]) mkdirSync(each, { recursive: true })
  writeFileSync(join(home, 'mcp.json'), JSON.stringify({ mcpServers: { fixture: { url: upstream } } }))
  writeFileSync(
    join(home, 'policy.json'),
    JSON.stringify({ rules: [{ id: 'all', effect: 'allow', tools: ['mcp.*'] }] }),
  )
  const child = spawn(
    process.execPath,
    [join(root, 'bin', 'handrail.cjs'), 'serve', '--port', '0', '--home', home, '--project', project],
    { stdio: ['ignore', 'pipe', values.verbose ? 'inherit' : 'ignore'] },
  )
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /serves MCP at (\S+)/.exec(line)?.[1]
    if (url === undefined) continue
    child.stdout.resume()
    return {
      url: `${url}/fixture`,
      async close() {
        child.kill('SIGTERM')
        await ended
      },
    }
  }
  throw new Error('The gateway did not start.')
}

async function runSide(side: Side, revision: string, server: string): Promise<Outcome[]> {
  const leg = side === 'client' ? 'client' : 'server'
  const client = `${process.execPath} --conditions=handrail-source ${join(root, 'test/conformance/client.ts')}`
  const args = leg === 'client' ? ['client', '--command', client] : ['server', '--url', server]
  const outcomes: Outcome[] = []
  for (const scenario of scenariosOf(revision, leg)) {
    if (values.scenario?.includes(scenario) === false) continue
    const outcome = await runScenario(scenario, revision, args)
    console.log(`${outcome.passed ? 'pass' : 'FAIL'}  ${revision}  ${side.padEnd(7)}  ${scenario}`)
    if (values.verbose && !outcome.passed) console.log(outcome.said)
    outcomes.push(outcome)
  }
  return outcomes
}

requireKnown('side', sides)
requireKnown('revision', revisions)
requireKnown(
  'scenario',
  revisions.flatMap((each) => [...scenariosOf(each, 'server'), ...scenariosOf(each, 'client')]),
)
const folder = mkdtempSync(join(tmpdir(), 'handrail-conformance-'))
const fixture = await startFixture()
const chosen = sides.filter((side) => values.side?.includes(side) ?? true)
const gateway = chosen.includes('gateway') ? await startGateway(fixture.url) : undefined
const rows: string[] = []
try {
  for (const revision of revisions.filter((each) => values.revision?.includes(each) ?? true))
    for (const side of chosen) {
      const outcomes = await runSide(side, revision, side === 'gateway' ? (gateway?.url ?? '') : fixture.url)
      const failed = outcomes.filter(({ passed }) => !passed).map(({ scenario }) => scenario)
      if (failed.length > 0) process.exitCode = 1
      const count = `${outcomes.length - failed.length} of ${outcomes.length}`
      rows.push(
        `${revision}  ${side.padEnd(7)}  ${count.padEnd(9)} ${failed.length > 0 ? `  not: ${failed.join(', ')}` : ''}`,
      )
    }
} finally {
  await gateway?.close()
  await fixture.close()
  rmSync(folder, { recursive: true, force: true })
}
console.log(`\nrevision    side     pass\n${rows.join('\n')}`)
