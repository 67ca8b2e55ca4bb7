import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeTools, resultText, type Session } from 'handrail'
import { describe, expect, test, vi } from 'vitest'
import { onBundle } from '../../support/command-line.ts'
import { findProcesses } from '../../support/processes.ts'
import { anyCommand, makeFolder, openRuntime } from '../../support/project.ts'

const kinds = ['bubblewrap', 'host'] as const

/** Children in the background, in a session of their own, forked twice, and deaf to what asks them to end; then it waits. */
const scatter = `
trap "" TERM HUP
(sleep 300 &)
setsid sleep 300 &
sleep 300 &
echo started > here
wait`

const left = (project: string) => findProcesses(`PWD=${project}`)

async function openProject(sandbox: (typeof kinds)[number]) {
  const project = makeFolder()
  const runtime = await openRuntime({
    project,
    sandbox,
    tools: [codeTools()],
    policy: anyCommand,
  })
  return { project, runtime, session: runtime.session() }
}

const run = (session: Session, script: string) =>
  session.call('code.run_command', { argv: ['sh', '-c', script] })

/** The process that starts the programs of a process. */
function launchersOf(parent: number): number[] {
  return findProcesses('launch-programs').filter((pid) => parentOf(pid) === parent)
}

/** Undefined if it has ended by now. */
function parentOf(pid: number): number | undefined {
  const path = `/proc/${pid}/stat`
  try {
    const stat = readFileSync(path, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch (error) {
    if (existsSync(path)) throw error
    return undefined
  }
}

/** All that a program says until it ends. */
async function textOf(child: ChildProcess): Promise<string> {
  const said: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => said.push(chunk))
  await once(child, 'close')
  return Buffer.concat(said).toString()
}

async function sawStart(project: string): Promise<void> {
  await vi.waitFor(() => expect(existsSync(join(project, 'here'))).toBe(true))
}

describe.each(kinds)('commands of the kind %s', (kind) => {
  test('start in a process that is not Handrail, one for all of a runtime, which ends with it (FILE-7)', async () => {
    const { runtime, session } = await openProject(kind)
    expect(launchersOf(process.pid)).toEqual([])
    expect(await run(session, 'echo out; echo err >&2; exit 3')).toMatchObject({
      data: { exit_code: 3, stdout: { head: 'out\n' }, stderr: { head: 'err\n' } },
    })
    const launchers = launchersOf(process.pid)
    expect(launchers).toHaveLength(1)
    await Promise.all(['1', '2', '3', '4'].map((each) => run(runtime.session(), `echo ${each}`)))
    expect(launchersOf(process.pid)).toEqual(launchers)
    await runtime.close()
    expect(launchersOf(process.pid)).toEqual([])
  })

  test('keep their output apart, however many run at the same time (FILE-7)', async () => {
    const { runtime } = await openProject(kind)
    const names = Array.from({ length: 12 }, (_, index) => `name-${index}`)
    const said = await Promise.all(
      names.map((name) =>
        run(runtime.session(), `for i in 1 2 3; do echo ${name}; echo ${name} >&2; sleep 0.02; done`),
      ),
    )
    const thrice = names.map((name) => `${name}\n`.repeat(3))
    expect(said.map(({ data }) => data)).toMatchObject(
      thrice.map((text) => ({ stdout: { head: text }, stderr: { head: text } })),
    )
  })

  test('fail, say why and leave nothing when what starts them is killed; the next one runs (FILE-7)', async () => {
    const { project, session } = await openProject(kind)
    const answer = run(session, kind === 'host' ? scatter : `echo evil > .envrc; ${scatter}`)
    await sawStart(project)
    const [launcher = 0] = launchersOf(process.pid)
    process.kill(launcher, 'SIGKILL')
    const result = await answer
    expect(result).toMatchObject({ ok: false, error: { code: 'TOOL.FAILED', reason: 'failed' } })
    expect(resultText(result)).toContain('The process that starts programs for Handrail has ended')
    if (kind !== 'host') expect(resultText(result)).toContain('It had made ".envrc"')
    expect(left(project)).toEqual([])
    expect(await run(session, 'echo again')).toMatchObject({ data: { stdout: { head: 'again\n' } } })
    expect(launchersOf(process.pid)).not.toContain(launcher)
  })

  test('end with Handrail when that is killed, and so does what starts them (FILE-7)', async () => {
    const project = makeFolder()
    const temporary = mkdtempSync(join(tmpdir(), 'handrail-test-'))
    const child = startRunner([project, kind, 'sh', '-c', scatter], { TMPDIR: temporary })
    await sawStart(project)
    const [launcher] = launchersOf(child.pid ?? 0)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await vi.waitFor(() => expect(left(project)).toEqual([]))
    await vi.waitFor(() => expect(findProcesses('launch-programs')).not.toContain(launcher))
    expect(readdirSync(temporary)).toEqual([])
  })

  test('say that too many files are open where that is why they cannot start, and run when that is over (FILE-7)', async () => {
    const runner = join(import.meta.dirname, 'used-up-runner.ts')
    const child = spawn(
      'sh',
      ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, onBundle, runner, makeFolder(), kind],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const said = await textOf(child)
    const answers = said.trim().split('\n')
    expect(answers.at(-1)).toBe('ok')
    const failures = answers.filter((each) => each !== 'ok')
    expect(failures.length).toBeGreaterThan(0)
    expect(failures.filter((each) => !/too many (?:open )?files|files are open/.test(each))).toEqual([])
  })

  test('do not keep a process from ending that never closes its runtime (FILE-7)', async () => {
    const temporary = makeFolder()
    const child = startRunner([makeFolder(), kind, 'sh', '-c', 'exit 0'], { TMPDIR: temporary })
    expect(await textOf(child)).toMatch(/exit code 0/)
    expect(child.exitCode).toBe(0)
    await vi.waitFor(() => expect(readdirSync(temporary)).toEqual([]))
  })
})

test('what starts commands has nothing of the environment and of the arguments of Handrail (FILE-7)', async () => {
  vi.stubEnv('A_TOKEN', 'its-secret-value')
  const { session } = await openProject('host')
  const result = await run(
    session,
    'tr "\\0" "\\n" < /proc/$PPID/environ; tr "\\0" "\\n" < /proc/$PPID/cmdline',
  )
  expect(resultText(result)).toContain('launch-programs')
  expect(resultText(result)).not.toMatch(/its-secret-value|HOME=|PATH=/)
  vi.unstubAllEnvs()
})

function startRunner(args: readonly string[], env: Readonly<Record<string, string>>) {
  const runner = join(import.meta.dirname, 'launcher-runner.ts')
  return spawn(process.execPath, [onBundle, runner, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
