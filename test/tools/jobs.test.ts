import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, jobTools, type RuntimeEvent } from 'handrail'
import { expect, test, vi } from 'vitest'
import { keepOpen } from '../support/at-end.ts'
import { handrail, makePlace } from '../support/command-line.ts'
import { atEitherDoor, outputWith, startJob } from '../support/job-doors.ts'
import { findProcesses } from '../support/processes.ts'
import { openRuntime } from '../support/project.ts'
import { withEnoughTime } from '../support/with-enough-time.ts'

const gone = (mark: string) => vi.waitFor(() => expect(findProcesses(mark)).toEqual([]))

const newMark = () => `job-${Math.random().toString(36).slice(2)}`

atEitherDoor((open) => {
  const shared = keepOpen(() => open())

  test('a background command answers at once, and runs on over later calls (FILE-7)', async () => {
    const door = shared()
    const script = 'echo begun; until [ -e go ]; do sleep 0.05; done; echo went on; exit 3'
    const id = await startJob(door, 'sh', '-c', script)
    expect(id).toMatch(/^job_/)
    await outputWith(door, id, 'begun\n')
    expect((await door.call('code.list_dir', {})).ok).toBe(true)
    const running = await door.call('job.list', {})
    expect(running.data['jobs']).toMatchObject([{ id, state: 'running' }])
    writeFileSync(join(door.place.project, 'go'), '')
    const { data } = await door.call('job.output', { id, wait_ms: 60_000 })
    expect(data).toMatchObject({ job: { id, state: 'exit', exit_code: 3 }, text: 'begun\nwent on\n' })
  })

  test('output goes on from an offset, in whole letters (FILE-7)', async () => {
    const door = shared()
    const id = await startJob(door, 'sh', '-c', 'seq 1 9000; echo größe; echo bad >&2')
    await door.call('job.output', { id, wait_ms: 60_000 })
    let text = ''
    for (let offset = 0, more = true; more;) {
      const { ok, data } = await door.call('job.output', { id, offset })
      expect(ok).toBe(true)
      text += data['text'] as string
      more = data['next_offset'] !== offset
      offset = Number(data['next_offset'])
    }
    const numbers = Array.from({ length: 9000 }, (_, index) => `${index + 1}\n`).join('')
    expect(text.replace('bad\n', '')).toBe(`${numbers}größe\n`)
    expect(text).toContain('bad\n')
    const beyond = await door.call('job.output', { id, offset: 1e9 })
    expect(beyond.data).toMatchObject({ text: '' })
  })

  test('stopping a job ends its whole tree, and tells why (FILE-7)', async () => {
    const door = shared()
    const mark = newMark()
    const id = await startJob(
      door,
      'sh',
      '-c',
      `setsid sleep 600 & (sleep 600 &) ; echo up; sleep 600; : ${mark}`,
      mark,
    )
    await outputWith(door, id, 'up')
    expect(findProcesses(mark).length).toBeGreaterThan(0)
    const stopped = await door.call('job.stop', { id, reason: 'not needed' })
    expect(stopped.data['job']).toMatchObject({ state: 'stopped', reason: 'not needed', survivors: [] })
    await gone(mark)
    const again = await door.call('job.stop', { id, reason: 'twice' })
    expect(again.data['job']).toMatchObject({ reason: 'not needed' })
  })

  test('closing the session ends its jobs with all their processes (FILE-7)', async () => {
    const door = await open()
    const mark = newMark()
    const id = await startJob(door, 'sh', '-c', `setsid sleep 600 & echo up; sleep 600; : ${mark}`, mark)
    await outputWith(door, id, 'up')
    expect(findProcesses(mark).length).toBeGreaterThan(0)
    await door.close()
    await gone(mark)
  })

  test('a job ends at a time limit that it was given (FILE-7)', async () => {
    const door = shared()
    const argv = ['sh', '-c', 'echo begun; sleep 600']
    await withEnoughTime(300, async (ms) => {
      const { data } = await door.call('code.run_command', { argv, background: true, timeout_ms: ms })
      const ended = await door.call('job.output', { id: data['job'], wait_ms: 60_000 })
      expect(ended.data).toMatchObject({ job: { state: 'timeout' }, text: 'begun\n' })
    })
  })

  test.each(['job_000000000000000000', '../x', '__proto__'])('there is no job %s (FILE-7)', async (id) => {
    const door = shared()
    for (const tool of ['job.output', 'job.stop'])
      expect(await door.call(tool, { id })).toMatchObject({ ok: false, reason: 'unknown_job' })
  })

  test('what cannot be started is not a job, and a refused start leaves none (FILE-7)', async () => {
    const door = await open({ says: 'deny' })
    const denied = await door.call('code.run_command', { argv: ['touch', 'x'], background: true })
    expect(denied).toMatchObject({ ok: false, reason: 'denied' })
    const missing = await door.call('code.run_command', { argv: ['no-such-program'], background: true })
    expect(missing).toMatchObject({ ok: false, reason: 'command_not_found' })
    expect((await door.call('job.list', {})).data).toEqual({ jobs: [] })
    expect(existsSync(join(door.place.project, 'x'))).toBe(false)
  })

  test('only so many jobs run at a time (FILE-7)', async () => {
    const door = await open()
    const ids: string[] = []
    for (let count = 0; count < 8; count++) ids.push(await startJob(door, 'sleep', '600'))
    const input = { argv: ['sleep', '600'], background: true }
    expect(await door.call('code.run_command', input)).toMatchObject({ ok: false, reason: 'concurrency' })
    await door.call('job.stop', { id: ids[0] })
    expect((await door.call('code.run_command', input)).ok).toBe(true)
  })
})

const yes = async () => ({ decision: 'allow_once' as const })

test('a job survives the turn that started it (FILE-7)', async () => {
  const runtime = await openRuntime({ tools: [codeTools(), jobTools()], approve: yes })
  const session = runtime.session()
  const controller = new AbortController()
  const argv = ['sh', '-c', 'until [ -e go ]; do sleep 0.05; done; echo done']
  const turn = await session.turn([{ tool: 'code.run_command', input: { argv, background: true } }], {
    signal: controller.signal,
  })
  controller.abort()
  const id = (turn.results[0]?.data as { job: string } | undefined)?.job ?? ''
  writeFileSync(join(runtime.project, 'go'), '')
  const { data } = await session.call('job.output', { id, wait_ms: 60_000 })
  expect(data).toMatchObject({ job: { state: 'exit', exit_code: 0 }, text: 'done\n' })
})

test('no other session sees a job, be it of the same actor, above or below (FILE-7)', async () => {
  const runtime = await openRuntime({ tools: [codeTools(), jobTools()], approve: yes })
  const parent = runtime.session()
  const child = runtime.session({ parent, role: 'main' })
  const input = { argv: ['sleep', '600'], background: true }
  const mine = ((await child.call('code.run_command', input)).data as { job: string }).job
  for (const other of [
    parent,
    runtime.session(),
    runtime.session({ parent: child, role: 'main' }),
    runtime.session({ actor: 'x' }),
  ]) {
    expect((await other.call('job.list', {})).data).toEqual({ jobs: [] })
    for (const tool of ['job.output', 'job.stop'])
      expect((await other.call(tool, { id: mine })).error?.reason).toBe('unknown_job')
  }
  expect((await child.call('job.list', {})).data).toMatchObject({ jobs: [{ id: mine, state: 'running' }] })
})

test('jobs end with the session above, its signal, and the runtime (FILE-7)', async () => {
  const runtime = await openRuntime({ tools: [codeTools(), jobTools()], approve: yes })
  const start = async (session: ReturnType<typeof runtime.session>) => {
    const mark = newMark()
    const argv = ['sh', '-c', `sleep 600; : ${mark}`]
    expect((await session.call('code.run_command', { argv, background: true })).ok).toBe(true)
    expect(findProcesses(mark).length).toBeGreaterThan(0)
    return mark
  }
  const parent = runtime.session()
  const below = await start(runtime.session({ parent, role: 'main' }))
  await parent.close()
  expect(findProcesses(below)).toEqual([])
  const controller = new AbortController()
  const aborted = await start(runtime.session({ signal: controller.signal }))
  controller.abort()
  await gone(aborted)
  const open = await start(runtime.session())
  await runtime.close()
  expect(findProcesses(open)).toEqual([])
})

test('the end of a job is noted in the evidence and told to watchers, without its command (FILE-7)', async () => {
  const events: RuntimeEvent[] = []
  const runtime = await openRuntime({
    tools: [codeTools(), jobTools()],
    approve: yes,
    onEvent: (event) => events.push(event),
  })
  const session = runtime.session()
  const started = await session.call('code.run_command', { argv: ['sh', '-c', 'exit 4'], background: true })
  const { job } = started.data as { job: string }
  await session.call('job.output', { id: job, wait_ms: 60_000 })
  const notes = [...runtime.store.records({ tenant: 'local' })]
    .filter(({ kind }) => kind === 'note')
    .map(({ text }) => JSON.parse(text))
  const about = { call: started.callId, tool: 'code.run_command', session: session.id }
  expect(notes).toMatchObject([
    { event: 'job_ended', ...about, actor: 'user', data: { job, how: 'exit', exit_code: 4, bytes: 0 } },
  ])
  expect(JSON.stringify(notes)).not.toContain('exit 4')
  expect(events.filter(({ type }) => type === 'job_ended')).toMatchObject([about])
})

test('a job that makes what it may not says so, and hides nothing in a name (FILE-7, FS-41)', async () => {
  const events: RuntimeEvent[] = []
  const runtime = await openRuntime({
    tools: [codeTools(), jobTools()],
    approve: yes,
    onEvent: (event) => events.push(event),
  })
  const session = runtime.session()
  const argv = ['touch', '.npm\u200brc']
  const { data } = await session.call('code.run_command', { argv, background: true })
  const ended = await session.call('job.output', { id: (data as { job: string }).job, wait_ms: 60_000 })
  const said = [ended, events.find(({ type }) => type === 'job_ended')].map((each) => JSON.stringify(each))
  for (const each of said) expect(each).toContain('.npm<U+200B>rc')
  expect(said.join()).not.toContain('.npm\u200brc')
})

test('secrets stand neither in the output of a job nor in its name (FILE-7)', async () => {
  const secret = 'sw0rdfish-in-the-sea'
  const runtime = await openRuntime({
    tools: [codeTools(), jobTools()],
    approve: yes,
    secrets: { key: secret },
  })
  const session = runtime.session()
  const argv = ['sh', '-c', `printf sw0rdfish-; sleep 0.2; echo in-the-sea; echo ${secret} >&2`]
  const { data } = await session.call('code.run_command', { argv, background: true })
  const { job } = data as { job: string }
  const output = await session.call('job.output', { id: job, wait_ms: 60_000 })
  // It is the log that has none, not only the answer.
  expect(output.data).toMatchObject({ text: '[redacted]\n[redacted]\n', job: { bytes: 22 } })
  for (const answer of [output, await session.call('job.list', {})])
    expect(JSON.stringify(answer)).not.toContain(secret)
})

test.each(['cpuMs', 'wallMs'] as const)(
  'a budget of %s would not see a job, so that none is started (FILE-7)',
  async (unit) => {
    const budgets = [{ id: 'time', unit, limit: 10_000_000 }]
    const runtime = await openRuntime({ tools: [codeTools(), jobTools()], approve: yes, policy: { budgets } })
    const session = runtime.session()
    const refused = await session.call('code.run_command', { argv: ['touch', 'x'], background: true })
    expect(refused.error?.code).toBe('QUOTA.BUDGET_EXCEEDED')
    expect((await session.call('job.list', {})).data).toEqual({ jobs: [] })
    expect((await session.call('code.run_command', { argv: ['touch', 'x'] })).ok).toBe(true)
  },
)

test('the compatible names of jobs reach the same tools (FILE-7)', async () => {
  const runtime = await openRuntime({ tools: [codeTools({ shell: true }), jobTools()], approve: yes })
  const session = runtime.session()
  const compatible = { presentation: 'compatible' } as const
  const started = await session.call(
    'Bash',
    { command: 'echo hi; sleep 600', run_in_background: true },
    compatible,
  )
  const { job } = started.data as { job: string }
  await vi.waitFor(async () => {
    const { data } = await session.call('TaskOutput', { task_id: job, block: false }, compatible)
    expect(data).toMatchObject({ text: 'hi\n', job: { state: 'running' } })
  })
  const stopped = await session.call('TaskStop', { task_id: job }, compatible)
  expect(stopped.data).toMatchObject({ job: { state: 'stopped' } })
})

test('a job of "handrail call" ends with the command, which says so (FILE-7)', async () => {
  const place = makePlace()
  const mark = newMark()
  const input = JSON.stringify({ argv: ['sh', '-c', `sleep 600; : ${mark}`], background: true })
  const { code, stderr } = await handrail(place, ['call', 'code.run_command', input, '--approve', 'once'])
  expect(code).toBe(0)
  expect(stderr).toMatch(/job_\w+ ended with this command/)
  expect(findProcesses(mark)).toEqual([])
})
