import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { handrail, jsonOf, makePlace, startHandrail, type Place } from '../support/command-line.ts'
import { startModelServer, type Answer } from '../support/model-server.ts'
import { findProcesses } from '../support/processes.ts'
import { listRuns, modelAt, modelEnv, modelKey } from '../support/run-model.ts'
import { firstOf } from '../support/rounds.ts'
import { ctrlC, ctrlD, openTerminal } from '../support/terminal.ts'

const read: Answer = { text: 'I look. ', calls: [{ tool: 'code.read_file', input: { path: 'a.txt' } }] }
const write: Answer = {
  text: 'I write.',
  calls: [{ tool: 'code.write_file', input: { path: 'b.txt', content: 'new\n' } }],
}
const done: Answer = { text: 'Done.' }
const sleep: Answer = {
  calls: [{ tool: 'code.run_command', input: { argv: ['sh', '-c', 'echo started > here; exec sleep 60'] } }],
}
const env = modelEnv

async function open(answers: readonly Answer[], ...argv: string[]) {
  const place = makePlace({ 'a.txt': 'alpha\n' })
  const server = await startModelServer(answers)
  return { place, server, argv: ['run', 'write b.txt', ...modelAt(server.url), ...argv] }
}

const outcomesOf = async (place: Place) =>
  jsonOf<{ tool: string; outcome: string }[]>(
    (await handrail(place, ['evidence', 'list', '--json'])) as never,
  ).map(({ tool, outcome }) => `${tool} ${outcome}`)

test('at a terminal the person sees words and calls, is asked with the diff, and the run goes on (AGENT-3, PERM-3)', async () => {
  const { place, argv } = await open([read, write, done])
  const terminal = openTerminal(place, argv, { env })
  await terminal.saw('Allow? once / deny / session (in full):')
  const screen = terminal.screen()
  expect(screen).toContain('I look. \n  ✓ code.read_file {"path":"a.txt"}')
  expect(screen).toContain('I write.\n')
  expect(screen).toContain('code.write_file wants to run')
  expect(screen).toContain('  | +new')
  terminal.type('once\n')
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen()).toMatch(
    /✓ code\.write_file .*\n+Done\.\nhandrail: completed: 3 turns, 360 tokens in \(60 cached\), 30 out\n/,
  )
  expect(readFileSync(join(place.project, 'b.txt'), 'utf8')).toBe('new\n')
})

test('a no at the terminal goes to the model, and the run goes on (PERM-5)', async () => {
  const { place, server, argv } = await open([write, done])
  const terminal = openTerminal(place, argv, { env })
  await terminal.saw('Allow?')
  terminal.type('deny\n')
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen()).toContain('✗ code.write_file')
  expect(terminal.screen()).toContain('denied: POLICY.APPROVAL_DENIED (denied)')
  expect(JSON.stringify(server.asked[1]?.body)).toContain('APPROVAL_DENIED')
  expect(existsSync(join(place.project, 'b.txt'))).toBe(false)
})

test('a yes for the session holds for its later calls (PERM-4)', async () => {
  const second: Answer = {
    calls: [
      {
        tool: 'code.write_file',
        input: { path: 'b.txt', content: 'newer\n', overwrite: true },
      },
    ],
  }
  const { place, argv } = await open([write, second, done])
  const terminal = openTerminal(place, argv, { env })
  await terminal.saw('Allow?')
  terminal.type('session\n')
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen().match(/Allow\?/g)).toHaveLength(1)
  expect(readFileSync(join(place.project, 'b.txt'), 'utf8')).toBe('newer\n')
})

test('a question at the terminal is answered from elsewhere meanwhile, and the first answer wins (PERM-3)', async () => {
  const { place, argv } = await open([write, done])
  const terminal = openTerminal(place, argv, { env })
  await terminal.saw('Allow?')
  const allowed = await handrail(place, ['approvals', 'allow', 'last', '--yes', '--as', 'bob'])
  expect(allowed.code).toBe(0)
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen()).toContain('bob')
  expect(existsSync(join(place.project, 'b.txt'))).toBe(true)
})

test('what the model writes cannot drive the terminal, in whatever pieces it comes, and shows no key (OUT-4)', async () => {
  const text = [
    'a\u001b',
    '[2J',
    '\udb40',
    '\udc41',
    ' 👍'.slice(0, 2),
    '👍'.slice(1),
    ` ${modelKey.slice(0, 20)}`,
    modelKey.slice(20),
  ]
  const hostile: Answer = { text, calls: [{ tool: 'code.read_file', input: { path: '\u001b[2Jx\u202e' } }] }
  const { place, argv } = await open([hostile, done])
  const terminal = openTerminal(place, argv, { env })
  expect(await terminal.ended).toBe(0)
  const screen = terminal.screen()
  expect(screen).toContain('a\\u{1b}[2J\\u{e0041} 👍 [redacted]\n')
  for (const letters of ['\u001b[2J', '\u202e', modelKey.slice(20)])
    expect(terminal.raw()).not.toContain(letters)
})

test('with the task on standard input the person is asked at the terminal all the same (PERM-3)', async () => {
  const { place, server, argv } = await open([write, done])
  const line = argv.map((word) => (word === 'write b.txt' ? '-' : word))
  const terminal = openTerminal(place, line, { env })
  terminal.type(`write it\n${ctrlD}`)
  await terminal.saw('Allow?')
  terminal.type('once\n')
  expect(await terminal.ended).toBe(0)
  expect(JSON.stringify(server.asked[0]?.body)).toContain('write it')
  expect(existsSync(join(place.project, 'b.txt'))).toBe(true)
})

test('Ctrl-C at a question aborts the run, which goes on where it stood (SCHED-6, AGENT-3)', async () => {
  const { place, argv } = await open([write, done])
  const terminal = openTerminal(place, argv, { env })
  await terminal.saw('Allow?')
  terminal.type(ctrlC)
  expect(await terminal.ended).toBe(130)
  expect(terminal.screen()).toMatch(/handrail: aborted_tools: 1 turn.*\nGo on: handrail run --resume run_/)
  expect(existsSync(join(place.project, 'b.txt'))).toBe(false)
  expect(await outcomesOf(place)).toEqual(['code.write_file aborted'])
  const resumed = await handrail(place, ['run', '--resume', 'last'], { env })
  expect([resumed.code, resumed.stdout]).toEqual([0, 'Done.\n'])
})

test('Ctrl-C while the model answers aborts the run, and the answer is asked for again (SCHED-6, AGENT-3)', async () => {
  const { place, argv } = await open([{ text: 'I think about it', hangs: true }, done])
  const terminal = openTerminal(place, argv, { env })
  await terminal.saw('I think')
  terminal.type(ctrlC)
  expect(await terminal.ended).toBe(130)
  expect(terminal.screen()).toContain('handrail: aborted: 0 turns')
  const resumed = await handrail(place, ['run', '--resume', 'last'], { env })
  expect([resumed.code, resumed.stdout]).toEqual([0, 'Done.\n'])
})

const left = (place: Place) => findProcesses(`PWD=${place.project}`).filter((pid) => pid !== process.pid)
const started = (place: Place) => vi.waitFor(() => expect(existsSync(join(place.project, 'here'))).toBe(true))

test.each(
  firstOf([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const),
)(
  '%s while a call runs ends it with all its processes; the run is aborted and goes on (SCHED-6, EVID-1)',
  async (signal, code) => {
    const { place, argv } = await open([sleep, done], '--approve', 'once')
    const running = startHandrail(place, argv, { env })
    await started(place)
    running.child.kill(signal)
    running.child.kill(signal)
    const ended = await running.ended
    expect([ended.code, ended.stderr]).toEqual([
      code,
      expect.stringMatching(/aborted: TOOL\.ABORTED.*\nhandrail: aborted_tools/),
    ])
    expect(left(place)).toEqual([])
    expect(await outcomesOf(place)).toEqual(['code.run_command aborted'])
    const resumed = await handrail(place, ['run', '--resume', 'last'], { env })
    expect([resumed.code, resumed.stdout]).toEqual([0, 'Done.\n'])
    expect((await handrail(place, ['evidence', 'verify'])).code).toBe(0)
  },
)

test('a run whose process was killed is listed as cut off, and goes on without its call a second time (AGENT-3, CALL-4)', async () => {
  const { place, server, argv } = await open([sleep, done], '--approve', 'once')
  const running = startHandrail(place, argv, { env })
  await started(place)
  running.child.kill('SIGKILL')
  await running.ended
  await vi.waitFor(() => expect(left(place)).toEqual([]))
  expect((await handrail(place, ['runs'])).stdout).toContain('  cut off: its process was ended  ')
  expect(await listRuns(place)).toMatchObject([{ state: 'ended', turns: 1 }])
  const resumed = await handrail(place, ['run', '--resume', 'last'], { env })
  expect([resumed.code, resumed.stdout]).toEqual([0, 'Done.\n'])
  expect(await outcomesOf(place)).toEqual(['code.run_command unknown'])
  expect(JSON.stringify(server.asked[1]?.body)).toContain('OUTCOME_UNKNOWN')
})

test('a second Ctrl-C ends a run at once that does not end by the first, as its model does not listen (SCHED-6)', async () => {
  const manifest = { name: 'deaf', version: '1.0.0', type: 'module', exports: './index.js' }
  const place = makePlace({
    'node_modules/deaf/package.json': JSON.stringify(manifest),
    'node_modules/deaf/index.js': `export default (modelId) => ({
      specificationVersion: 'v4', provider: 'deaf', modelId, supportedUrls: {},
      doStream: () => new Promise(() => { process.stderr.write('asked'); setInterval(() => {}, 1000) }),
    })`,
  })
  const running = startHandrail(place, ['run', 'a', '--trust-project', '--model', 'deaf:m'])
  await running.saw('asked')
  let ended = false
  const end = running.ended.finally(() => (ended = true))
  await vi.waitFor(() => {
    running.child.kill('SIGINT')
    expect(ended).toBe(true)
  })
  // The signal itself ends it if one more comes while it ends.
  expect([130, null]).toContain((await end).code)
})

test('the key of the provider is in no environment of a command, and in no record (OUT-4)', async () => {
  const show: Answer = { calls: [{ tool: 'code.run_command', input: { argv: ['env'] } }] }
  const { place, server, argv } = await open([show, done], '--approve', 'once')
  const { code } = await handrail(place, argv, { env })
  expect(code).toBe(0)
  const told = JSON.stringify(server.asked[1]?.body)
  expect(told).toContain('PATH=')
  expect(told).not.toContain('ANTHROPIC_API_KEY')
  const { stdout } = await handrail(place, ['evidence', 'export'])
  expect(stdout).not.toContain(modelKey)
})

test('of processes that go on with one run at once one does, and its call runs once (AGENT-3, CALL-4)', async () => {
  const append = 'echo once >> log'
  const call: Answer = { calls: [{ tool: 'code.run_command', input: { argv: ['sh', '-c', append] } }] }
  const { place, argv } = await open([call, done, done, done])
  expect((await handrail(place, argv, { env })).code).toBe(4)
  expect((await handrail(place, ['approvals', 'allow', 'last', '--yes'])).code).toBe(0)
  const all = [1, 2, 3].map(() => startHandrail(place, ['run', '--resume', 'last'], { env }))
  const ended = await Promise.all(all.map((each) => each.ended))
  const won = ended.filter(({ code }) => code === 0)
  const lost = ended.filter(({ code }) => code !== 0)
  expect(won.map(({ stdout }) => stdout)).toEqual(['Done.\n'])
  for (const { code, stderr } of lost)
    expect([code, stderr]).toEqual([2, expect.stringMatching(/run_in_progress|has completed/)])
  expect(readFileSync(join(place.project, 'log'), 'utf8')).toBe('once\n')
})
