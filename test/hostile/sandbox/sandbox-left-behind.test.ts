import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { codeTools } from 'handrail'
import { expect, test, vi } from 'vitest'
import { onBundle } from '../../support/command-line.ts'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'
import { firstOf } from '../../support/rounds.ts'

/** Users that Handrail is started as: the one of the tests and, if that is root, one without rights. */
const users = firstOf(process.getuid?.() === 0 ? [4_242, undefined] : [undefined])

function start(
  user: number | undefined,
  place: string,
  { line, temporary }: { line: string; temporary: string },
) {
  const runner = join(import.meta.dirname, 'sandbox-runner.ts')
  return spawn(process.execPath, [onBundle, runner, place, 'sh', '-c', line], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, TMPDIR: temporary },
    ...(user !== undefined && { uid: user, gid: user }),
  })
}

/** A folder of this user, else of the one that commands of root run as. */
function makeFolderOf(user: number | undefined, files: Readonly<Record<string, string>> = {}): string {
  const folder = makeFolder(files)
  if (user !== undefined)
    for (const path of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
      chownSync(join(folder, path), user, user)
  return folder
}

/** How a command ends that is run by a Handrail of its own. */
async function run(place: string, line: string, temporary: string): Promise<unknown> {
  return JSON.parse(await text(start(undefined, place, { line, temporary }).stdout))
}

/** A project in which Handrail was killed while a command ran that had made this, and Handrail as it starts the next time. */
async function leaveBehind(line: string) {
  const [project, temporary] = [makeFolder({ '.npmrc': '' }), makeFolder()]
  const killed = start(undefined, project, { line: `${line}; echo > here; sleep 300`, temporary })
  await vi.waitFor(() => expect(existsSync(join(project, 'here'))).toBe(true))
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  return {
    project,
    temporary,
    runNext: async (place: string, next: string) => await run(place, next, temporary),
  }
}

const shortened = (project: string) =>
  readdirSync(project)
    .map((name) => name.replace(/-[0-9a-f]{8}$/, ''))
    .toSorted()

test('what a killed Handrail left under protected names is put aside at the next start, wherever that is (FS-41, FS-50)', async () => {
  const { project, temporary, runNext } = await leaveBehind('echo evil > .envrc; mkdir .vscode')
  // Another Handrail that starts meanwhile may be faster.
  expect(['.envrc', '.envrc.blocked']).toContain(shortened(project)[0])
  // A command of another project is run, and learns nothing of it.
  expect(await runNext(makeFolder(), 'true')).toEqual({ ok: true })
  expect(shortened(project)).toEqual(['.envrc.blocked', '.npmrc', '.vscode.blocked', 'here'])
  expect(readdirSync(temporary)).toEqual([])
})

test('the next command there is not run, and says what was there (FS-41, FS-50)', async () => {
  const { project, runNext } = await leaveBehind('echo evil > .envrc')
  // Also if it was another start that put it aside.
  await runNext(makeFolder(), 'true')
  expect(await runNext(project, 'touch ran')).toMatchObject({
    ok: false,
    reason: 'protected_path',
    message: expect.stringContaining('".envrc"'),
  })
  expect(await runNext(project, 'true')).toEqual({ ok: true })
  expect(shortened(project)).toEqual(['.envrc.blocked', '.npmrc', 'here'])
})

test('what another Handrail puts aside meanwhile is waited for, and told (FS-41, FS-50)', async () => {
  const [project, temporary] = [makeFolder({ '.envrc': 'evil' }), makeFolder()]
  // Stands in for a Handrail that has taken the note of a killed one.
  const other = spawn('sleep', ['300'], { stdio: 'ignore' })
  const since = readFileSync(`/proc/${other.pid}/stat`, 'latin1').split(' ')[21] ?? ''
  const space = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
  const mark = `/dev/shm/handrail-note-${space}-${other.pid}-${since}`
  writeFileSync(`${mark}-guard-taken-00000000`, JSON.stringify({ [project]: { names: [], inside: {} } }), {
    mode: 0o600,
  })
  const next = run(project, 'touch ran', temporary)
  setTimeout(() => {
    renameSync(join(project, '.envrc'), join(project, '.envrc.blocked-00000000'))
    writeFileSync(`${mark}-aside-00000000`, JSON.stringify(join(project, '.envrc')), { mode: 0o600 })
    rmSync(`${mark}-guard-taken-00000000`)
  }, 1_500)
  expect(await next).toMatchObject({ ok: false, reason: 'protected_path' })
  expect(shortened(project)).toEqual(['.envrc.blocked'])
  other.kill()
})

test('what a command of another Handrail makes is no more allowed to a command of this one (FS-41, FS-50)', async () => {
  const [project, temporary] = [makeFolder(), makeFolder()]
  const begin = async (line: string, made: string) => {
    const child = start(undefined, project, { line, temporary })
    await vi.waitFor(() => expect(existsSync(join(project, made))).toBe(true))
    return { end: text(child.stdout) }
  }
  const wait = 'until [ -e go ]; do sleep 0.01; done'
  const first = await begin(`echo a > .envrc; touch made; ${wait}`, 'made')
  const again = 'while [ -e .envrc ]; do sleep 0.01; done; echo evil > .envrc'
  const second = await begin(`touch up; ${again}`, 'up')
  writeFileSync(join(project, 'go'), '')
  for (const { end } of [first, second])
    expect(JSON.parse(await end)).toMatchObject({ ok: false, reason: 'protected_path' })
  expect(shortened(project)).toEqual(['.envrc.blocked', '.envrc.blocked', 'go', 'made', 'up'])
})

/** Whose folder for temporary files lies in the project, where commands and file tools write. */
test.each(users)(
  'of the folder for temporary files no note is obeyed, whoever wrote it (FS-40, user %s)',
  async (user) => {
    const project = makeFolderOf(user, { 'tmp/keep': '' })
    const home = makeFolderOf(user, { '.bashrc': 'mine', '.git/config': 'mine' })
    const space = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
    const note = JSON.stringify({ [home]: { names: [], inside: { '.git': [] } } })
    const temporary = join(project, 'tmp')
    const names = ['handrail', 'handrail-note'].map((start) => `${start}-${space}-4194303-1-guard-00000000`)
    const forge = `umask 077; cd tmp; tee ${names.join(' ')} > /dev/shm/own <<'E'\n${note}\nE\n`
    for (const line of [forge, 'true'])
      expect(JSON.parse(await text(start(user, project, { line, temporary }).stdout))).toEqual({ ok: true })
    expect(shortened(home)).toEqual(['.bashrc', '.git'])
    expect(readFileSync(join(home, '.git', 'config'), 'utf8')).toBe('mine')
  },
)

test.each(users)('nor does a command get at the note of itself (FS-41, user %s)', async (user) => {
  const project = makeFolderOf(user, { 'tmp/keep': '' })
  const temporary = join(project, 'tmp')
  const line = 'echo evil > .envrc; rm -rf tmp/* /dev/shm/*; echo > here; sleep 300'
  const killed = start(user, project, { line, temporary })
  await vi.waitFor(() => expect(existsSync(join(project, 'here'))).toBe(true))
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  expect(
    JSON.parse(await text(start(user, project, { line: 'true', temporary: makeFolderOf(user) }).stdout)),
  ).toMatchObject({ ok: false, reason: 'protected_path' })
  expect(shortened(project)).toEqual(['.envrc.blocked', 'here', 'tmp'])
})

test('nor does a file tool write one, whatever its roots are (FS-40)', async () => {
  const { approve } = personSaying('allow_once')
  const runtime = await openRuntime({ tools: [codeTools()], writeRoots: ['/'], approve, store: 'memory' })
  const path = '/dev/shm/handrail-note-1-4194303-1-guard-00000000'
  const { ok, error } = await runtime.session().call('code.write_file', { path, content: '{}' })
  expect({ ok, reason: error?.reason }).toEqual({ ok: false, reason: 'protected_path' })
})
