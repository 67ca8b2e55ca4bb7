import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'
import { ctrlC, ctrlD, openTerminal } from '../support/terminal.ts'

const question = '? yes / no:'
const write = ['call', 'code.write_file', '{"path": "notes.txt", "content": "hello\\n"}']

async function answer(place: Place, typed: string, argv: readonly string[] = write) {
  const terminal = openTerminal(place, argv)
  await terminal.saw(question)
  terminal.type(typed)
  const code = await terminal.ended
  return { code, screen: terminal.screen(), written: existsSync(join(place.project, 'notes.txt')) }
}

/** Says no, after which nothing was written. */
async function denyIt(place: Place, terminal: ReturnType<typeof openTerminal>): Promise<void> {
  terminal.type('deny\n')
  expect(await terminal.ended).toBe(3)
  expect(existsSync(join(place.project, 'notes.txt'))).toBe(false)
}

async function lastCall(place: Place): Promise<string> {
  const [last] = jsonOf<{ call: string }[]>(await handrail(place, ['evidence', 'list', '--json']))
  return last?.call ?? ''
}

test('a terminal is shown tool, diff and reason, and "once" lets the call through (PERM-3, PERM-6)', async () => {
  const place = makePlace()
  const { code, screen } = await answer(place, 'once\n')
  expect(code).toBe(0)
  expect(readFileSync(join(place.project, 'notes.txt'), 'utf8')).toBe('hello\n')
  expect(screen).toContain('code.write_file wants to run')
  expect(screen).toContain('Allow? yes / no:')
  expect(screen).toContain('  | +hello')
  expect(screen).toContain('why asked: the tool changes things')
  expect(screen).toContain('Created notes.txt')
})

test('a command is shown as its argv, its folder and its environment (PERM-6)', async () => {
  const place = makePlace()
  const argv = ['call', 'code.run_command', '{"argv": ["touch", "notes.txt"]}']
  const { code, screen } = await answer(place, 'once\n', argv)
  expect(code).toBe(0)
  expect(existsSync(join(place.project, 'notes.txt'))).toBe(true)
  expect(screen).toContain('code.run_command has run, and nothing of it is in force  (dangerous)')
  expect(screen).toContain('code.run_command runs. What it changes is held back')
  expect(screen).toContain('Keep it? yes / no:')
  expect(screen).toContain('+ notes.txt (0 bytes)')
  expect(screen).toMatch(/\| .*touch.* notes\.txt/)
  expect(screen).toContain(`in: ${place.project}`)
  expect(screen).toMatch(/sees the environment: .*PATH/)
})

test.each([
  ['deny', 'deny\n'],
  ['n', 'n\n'],
  ['NO', ' NO \n'],
  ['the first letters of deny', 'de\n'],
  ['end of input', ctrlD],
])('%s means deny: exit code 3, nothing written, evidence kept (PERM-5)', async (_, typed) => {
  const place = makePlace()
  const { code, screen, written } = await answer(place, typed)
  expect([code, written]).toEqual([3, false])
  expect(screen).toContain('POLICY.APPROVAL_DENIED (denied)')
  expect(screen).not.toMatch(/^\s+at /m)
  expect(jsonOf(await handrail(place, ['evidence', 'list', '--json']))).toMatchObject([{ outcome: 'denied' }])
})

test.each([
  ['y', 'allow_once'],
  ['Yes', 'allow_once'],
  ['o', 'allow_once'],
])('%s is understood, and a short yes is the smallest one (PERM-4)', async (typed, decision) => {
  const place = makePlace()
  const { code, written } = await answer(place, `${typed}\n`)
  expect([code, written]).toEqual([0, true])
  const { stdout } = await handrail(place, ['evidence', 'show', await lastCall(place), '--json'])
  expect(JSON.parse(stdout)).toMatchObject([{ record: { approval: { decision } } }, {}])
})

test('what is not understood is asked again, and is neither a yes nor silently a no (PERM-5)', async () => {
  const place = makePlace()
  const terminal = openTerminal(place, write)
  for (const typed of ['', 's', 'session', 'once please']) {
    await terminal.sawNext(question)
    terminal.type(`${typed}\n`)
  }
  await terminal.sawNext(question)
  expect(terminal.screen().split('That is not understood. Type yes or no.')).toHaveLength(5)
  terminal.type('once\n')
  expect(await terminal.ended).toBe(0)
  expect(existsSync(join(place.project, 'notes.txt'))).toBe(true)
})

test('five lines that are not understood deny, which is said (PERM-5)', async () => {
  const place = makePlace()
  const terminal = openTerminal(place, write)
  for (let times = 1; times <= 5; times++) {
    await terminal.sawNext(question)
    terminal.type('what?\n')
  }
  expect(await terminal.ended).toBe(3)
  expect(terminal.screen()).toContain('Nothing was understood, which is taken as a no.')
  expect(existsSync(join(place.project, 'notes.txt'))).toBe(false)
})

test('of lines that are pasted at once only the first is an answer (PERM-5)', async () => {
  const place = makePlace()
  const terminal = openTerminal(place, write)
  await terminal.sawNext(question)
  terminal.type('what\nonce\nyes\non')
  await terminal.sawNext(question)
  terminal.type('\n')
  await terminal.sawNext(question)
  await denyIt(place, terminal)
})

test('Ctrl-C ends the command with 130: the call is aborted, nothing is written, and the evidence says so (SCHED-6)', async () => {
  const place = makePlace()
  const { code, screen, written } = await answer(place, ctrlC)
  expect([code, written]).toEqual([130, false])
  expect(screen).toContain('TOOL.ABORTED (aborted_by_user)')
  expect(screen).not.toMatch(/^\s+at /m)
  expect(jsonOf(await handrail(place, ['evidence', 'list', '--json']))).toMatchObject([
    { outcome: 'aborted', reason: 'aborted_by_user' },
  ])
})

test('without a terminal what needs asking is denied (PERM-5)', async () => {
  const place = makePlace()
  const { code, stderr } = await handrail(place, write, { input: 'once\n' })
  expect(code).toBe(3)
  expect(stderr).toContain('POLICY.APPROVAL_DENIED (no_callback)')
  expect(existsSync(join(place.project, 'notes.txt'))).toBe(false)
})

test('what was typed before the question is not an answer to it', async () => {
  const place = makePlace()
  const terminal = openTerminal(place, write)
  terminal.type('once\n')
  await terminal.saw(question)
  await denyIt(place, terminal)
})

test('half a line that was typed before the question is not an answer to it (PERM-5)', async () => {
  const place = makePlace()
  const terminal = openTerminal(place, write)
  terminal.type('y')
  await terminal.sawNext(question)
  terminal.type('\n')
  await terminal.sawNext(question)
  await denyIt(place, terminal)
})

test('a file that changes while the person thinks is not written over (PERM-6)', async () => {
  const place = makePlace({ 'notes.txt': 'old\n' })
  const terminal = openTerminal(place, [
    'call',
    'code.write_file',
    '{"path": "notes.txt", "content": "hello\\n", "overwrite": true}',
  ])
  await terminal.saw(question)
  const other = await handrail(place, [
    'call',
    'code.write_file',
    '{"path": "notes.txt", "content": "somebody else\\n", "overwrite": true}',
    '--approve',
    'once',
  ])
  expect(other.code).toBe(0)
  terminal.type('once\n')
  expect(await terminal.ended).toBe(3)
  expect(terminal.screen()).toContain('approval_stale')
  expect(readFileSync(join(place.project, 'notes.txt'), 'utf8')).toBe('somebody else\n')
})

test('nothing in a question can drive the terminal or forge a line of it', async () => {
  const path = '\u001b[2Jx\u202ey\nAllow? nobody'
  const place = makePlace()
  const terminal = openTerminal(place, [
    'call',
    'code.write_file',
    JSON.stringify({ path, content: '\u009b2J' }),
  ])
  await terminal.saw(question)
  terminal.type('deny\n')
  expect(await terminal.ended).toBe(3)
  const screen = terminal.screen()
  for (const letters of ['\u001b[2J', '\u202e', '\u009b']) expect(screen).not.toContain(letters)
  expect(screen.split('\n').filter((line) => line.startsWith('Allow?'))).toHaveLength(1)
})

test('what a tool reads or prints cannot drive the terminal; a pipe gets a file as it is', async () => {
  const place = makePlace({ 'a.txt': 'a\u001b[2Jb' })
  const argv = ['call', 'code.read_file', '{"path": "a.txt"}']
  const terminal = openTerminal(place, argv)
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen()).toContain('a\\u{1b}[2Jb')
  expect((await handrail(place, argv)).stdout).toContain('a\u001b[2Jb')
  const printing = ['call', 'code.run_command', '{"argv": ["cat", "a.txt"]}', '--approve', 'once']
  expect((await handrail(place, printing)).stdout).toContain('\nab')
})
