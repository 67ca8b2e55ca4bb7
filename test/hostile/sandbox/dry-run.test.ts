import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { codeTools, resultText } from 'handrail'
import { expect, test, vi } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { onBundle } from '../../support/command-line.ts'
import { findProcesses } from '../../support/processes.ts'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'
import { atEveryEntrance } from '../../support/sandbox-entrances.ts'

/** Everything in a project, with kinds, modes, times and contents. */
function everythingIn(project: string): string[] {
  const paths = ['', ...readdirSync(project, { recursive: true, encoding: 'utf8' })].toSorted()
  return paths.map((path) => {
    const at = join(project, path)
    const stat = lstatSync(at)
    const content = stat.isFile() ? readFileSync(at, 'hex') : stat.isSymbolicLink() ? readlinkSync(at) : ''
    return [path, stat.mode, stat.isDirectory() ? '' : stat.mtimeMs, content].join(' ')
  })
}

const files = {
  'a.txt': 'one\ntwo\n',
  'b.txt': 'b',
  'sub/c.txt': 'c',
  '.npmrc': 'x=1',
  '.env': 'KEY=hidden-value',
}

atEveryEntrance((open) => {
  const at = keepOpen(() => open())
  const dryRun = (line: string) => at().call('code.run_command', { argv: ['sh', '-c', line], dry_run: true })

  test('a dry run says what a command would change, and changes nothing (FS-43)', async () => {
    const { project, renew } = at()
    renew(files)
    const before = everythingIn(project)
    const line =
      'echo three >> a.txt; rm b.txt; mkdir new; echo n > new/n.txt; mv sub moved; ln -s a.txt link; cat a.txt'
    const answer = await dryRun(line)
    expect({ ok: answer.ok, text: answer.text }).toEqual({ ok: true, text: expect.stringContaining('three') })
    for (const part of [
      'it would change',
      '~ a.txt (14 bytes)',
      '- b.txt',
      '+ new (directory)',
      '+ new/n.txt (2 bytes)',
      '- sub',
      '+ moved/c.txt (1 byte)',
      '+ link (link to a.txt)',
    ])
      expect(answer.text).toContain(part)
    expect(answer.seen).toContain('"changes_total"')
    expect(everythingIn(project)).toEqual(before)
    expect((await dryRun('cat a.txt > /dev/null')).text).toContain('it would change no file')
  })

  test('whatever a command does, a dry run of it leaves no trace in the project (FS-41, FS-45, FS-50)', async () => {
    const { project, renew } = at()
    renew(files)
    const before = everythingIn(project)
    for (const line of [
      'echo evil > .envrc; mkdir .vscode; echo {} > .vscode/tasks.json',
      'git init -q inner; git init -q .; echo evil > .git/hooks/pre-commit',
      'rm -rf ./* ; chmod 000 sub .',
      'mkfifo pipe; mkdir deep; chmod 000 deep',
      'rm -r sub; ln -s /etc sub; ln -s / root',
      'touch -d 2001-01-01 a.txt; chmod 4755 b.txt; printf x > "$(printf "a\\nb")"',
      'sleep 600 & echo left > left',
      'echo x > closed; chmod 000 closed; mkdir shut; chmod 000 shut; umask 777; echo x > none',
      `touch "$(printf 'a\\377')"`,
      'n=0; while [ $n -lt 40 ]; do n=$((n+1)); mkdir $(printf "%0200d" 1) && cd $(printf "%0200d" 1); done',
      'i=0; while [ $i -lt 500 ]; do i=$((i+1)); echo $i > f$i; done',
      'exit 3',
    ]) {
      await dryRun(line)
      expect({ line, left: everythingIn(project) }).toEqual({ line, left: before })
    }
    expect((await dryRun('echo "[core]" >> .npmrc')).ok).toBe(false)
  })

  test('a dry run sees no more than any other command, and its diff neither (FS-20)', async () => {
    const { project, renew } = at()
    renew(files)
    await dryRun('true')
    const answer = await dryRun(
      'ln -s . self; rm self; mkdir self; echo x > self/.env; cat .env; mv .env shown; cp .env copy; ln .env hard; cat shown copy hard',
    )
    expect(answer.seen).not.toContain('hidden-value')
    expect(readFileSync(join(project, '.env'), 'utf8')).toBe('KEY=hidden-value')
  })

  test('a dry run is none of a job (TURN-7)', async () => {
    expect(
      await at().call('code.run_command', { argv: ['true'], dry_run: true, background: true }),
    ).toMatchObject({ ok: false, code: 'SCHEMA.VALIDATION_FAILED', reason: 'invalid_input' })
  })
})

test('a dry run reaches no host, also if its call may (NET-1)', async () => {
  const { approve } = personSaying('allow_once')
  const runtime = await openRuntime({
    tools: [codeTools({ commands: { hosts: ['example.com'] } })],
    approve,
    store: 'memory',
  })
  const session = runtime.session()
  const input = { argv: ['sh', '-c', 'env | grep -ci proxy; true'] }
  const real = await session.preflight('code.run_command', input)
  const dry = await session.preflight('code.run_command', { ...input, dry_run: true })
  const hostsOf = ({ plan }: typeof real) => plan?.operations.filter(({ kind }) => kind === 'net').length
  expect([hostsOf(real), hostsOf(dry)]).toEqual([1, 0])
  expect(resultText(await session.call('code.run_command', { ...input, dry_run: true }))).toMatch(/^0$/m)
})

test('where nothing can hold it back, a dry run is not run at all (FS-43)', async () => {
  const project = makeFolder()
  const { approve } = personSaying('allow_once')
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    approve,
    sandbox: 'host',
    store: 'memory',
  })
  const answer = await runtime.session().call('code.run_command', { argv: ['touch', 'made'], dry_run: true })
  expect({ ok: answer.ok, code: answer.error?.code }).toEqual({ ok: false, code: 'SANDBOX.UNAVAILABLE' })
  expect(existsSync(join(project, 'made'))).toBe(false)
})

test('a yes to dry runs for the session is none to a run that changes something (AUTH-6)', async () => {
  const person = personSaying('allow_for_session')
  const runtime = await openRuntime({ tools: [codeTools()], approve: person.approve, store: 'memory' })
  const session = runtime.session()
  const run = (dry_run: boolean) => session.call('code.run_command', { argv: ['touch', 'x'], dry_run })
  await run(true)
  await run(true)
  const asked = person.asked.length
  await run(false)
  expect([asked, person.asked.length]).toEqual([1, 2])
})

/** A process that tries command lines, with a folder for temporary files of its own. */
function startRunner(files: Record<string, string> = {}) {
  const [project, temporary] = [makeFolder(files), realpathSync(makeFolder())]
  const runner = join(import.meta.dirname, 'dry-runner.ts')
  const start = (...args: ['close' | 'leave' | 'stay', ...string[]]) =>
    spawn(process.execPath, [onBundle, runner, project, ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, TMPDIR: temporary },
    })
  const held = () => readdirSync(temporary, { recursive: true, encoding: 'utf8' })
  return { project, temporary, start, held }
}

test.each([
  ['the first', []],
  ['a later one, whose layer was ready before it', ['true', 'sleep 0.3']],
])(
  'of a dry run in which Handrail is killed nothing is left: %s (FILE-7, CALL-3)',
  async (_which, before) => {
    const { project, temporary, start, held } = startRunner({ 'a.txt': 'a' })
    const killed = start('close', ...before, `touch "$(printf 'b\\377')"; echo more >> a.txt; sleep 300`)
    await vi.waitFor(() => expect(held().some((name) => name.endsWith('upper0/a.txt'))).toBe(true))
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    expect(JSON.parse(await text(start('close', 'true').stdout))).toMatchObject({ ok: true })
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('a')
    expect(readdirSync(temporary)).toEqual([])
  },
)

test('of a layer that is ready nothing is left when Handrail is killed, neither files nor processes (FILE-7)', async () => {
  const { temporary, start, held } = startRunner()
  const killed = start('stay', 'true')
  // The one of the command may still be there.
  await vi.waitFor(() => expect(held().filter((name) => name.endsWith('upper0'))).toHaveLength(1))
  await once(killed.stdout, 'data')
  await vi.waitFor(() => {
    expect(readdirSync(temporary)).toHaveLength(1)
    expect(held().some((name) => name.endsWith('work0/work'))).toBe(true)
  })
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  await vi.waitFor(() => expect(findProcesses(temporary)).toEqual([]))
  await text(start('close', 'true').stdout)
  expect(readdirSync(temporary)).toEqual([])
})

test('a layer that is ready does not keep a process from ending, and goes with it (FILE-7)', async () => {
  const { temporary, start } = startRunner()
  const child = start('leave', 'touch made', 'sleep 0.3')
  expect((await text(child.stdout)).trim().split('\n')).toHaveLength(2)
  expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(0)
  await vi.waitFor(() => expect(readdirSync(temporary)).toEqual([]))
})
