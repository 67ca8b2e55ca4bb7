import { expect, test } from 'vitest'
import { allowAll, lastRunOf, openSchedules, schedule, start } from './schedule-doors.ts'
import { personSaying } from '../support/project.ts'

const patient = { interval: 50 }

test('a schedule really runs its call at its times, as what its author is, and tells how it went (BI-5)', async () => {
  const { runtime, clock, lines } = await openSchedules()
  const session = runtime.session({ actor: 'ada' })
  const made = await schedule(session, { schedule: '0 9 * * 2', time_zone: 'UTC' })
  expect(made).toMatchObject({ next_at: '2026-11-24T09:00:00.000Z', runs: 0, durable: true })
  const runner = runtime.schedules.start()
  expect(lines()).toEqual([])
  clock.forward(1)
  await expect.poll(() => lastRunOf(runtime, made.id)?.state, patient).toBe('ok')
  expect(lines()).toEqual(['noted'])
  const listed = (await session.call('cron.list')).data
  expect(listed).toMatchObject({
    schedules: [{ id: made.id, runs: 1, next_at: '2026-12-01T09:00:00.000Z', last_run: { state: 'ok' } }],
  })
  const run = lastRunOf(runtime, made.id)
  const begin = [...runtime.store.records({ session: run?.id ?? '', kind: 'begin' })].map(
    ({ text }) => JSON.parse(text) as object,
  )
  expect(begin).toMatchObject([{ tool: 'demo.note', actor: 'ada', origin: 'system', toolCallId: run?.id }])
  await runner.close()
  clock.forward(7 * 24 * 60)
  expect(runtime.schedules.find(made.id)?.runs).toBe(1)
})

test('times that were missed are one run, or none, and never many (BI-5)', async () => {
  const { runtime, clock, lines } = await openSchedules()
  const session = runtime.session()
  const once = await schedule(session, { input: { line: 'once' } })
  const skip = await schedule(session, { input: { line: 'skip' }, missed: 'skip', schedule: '0 * * * *' })
  clock.forward(3 * 24 * 60 + 10)
  runtime.schedules.start()
  await expect.poll(() => lines(), patient).toEqual(['once'])
  await expect.poll(() => runtime.schedules.find(skip.id)?.skipped, patient).toBe(1)
  expect(runtime.schedules.find(once.id)).toMatchObject({ runs: 1 })
  expect(runtime.schedules.find(skip.id)).toMatchObject({ runs: 0, nextAt: Date.UTC(2026, 10, 27, 10) })
})

test('a clock that jumps ahead or is set back makes nothing run twice (BI-5)', async () => {
  const { runtime, clock, lines } = await openSchedules()
  const made = await schedule(runtime.session(), { schedule: '0 * * * *' })
  runtime.schedules.start()
  clock.forward(1)
  await expect.poll(() => lastRunOf(runtime, made.id)?.state, patient).toBe('ok')
  // Set back by less than what counts as a clock that was wrong: the same hour comes again, and nothing runs.
  clock.forward(-30)
  await new Promise((resolve) => setTimeout(resolve, 2500))
  expect(runtime.schedules.find(made.id)).toMatchObject({ runs: 1, nextAt: Date.UTC(2026, 10, 24, 10) })
  clock.set(Date.UTC(2030, 0, 1, 0, 20))
  await expect.poll(() => runtime.schedules.find(made.id)?.runs, patient).toBe(2)
  // It was wrong: the times of the right clock count.
  clock.set(start + 24 * 3_600_000)
  await expect.poll(() => runtime.schedules.find(made.id)?.nextAt, patient).toBe(Date.UTC(2026, 10, 25, 9))
  expect(lines()).toHaveLength(2)
})

test('a time that comes while the run before goes on is left out or comes behind it (BI-5)', async () => {
  const gates: (() => void)[] = []
  const { runtime, clock, lines } = await openSchedules({
    during: () => new Promise<void>((resolve) => gates.push(resolve)),
  })
  const session = runtime.session()
  const skip = await schedule(session, { input: { line: 'skip' } })
  const queue = await schedule(session, { input: { line: 'queue' }, overlap: 'queue' })
  runtime.schedules.start()
  clock.forward(1)
  await expect.poll(() => gates.length, patient).toBe(2)
  for (let minute = 0; minute < 2; minute++) {
    clock.forward(1)
    await expect.poll(() => runtime.schedules.find(skip.id)?.skipped, patient).toBe(minute + 1)
  }
  await expect.poll(() => runtime.schedules.find(queue.id)?.skipped, patient).toBe(1)
  expect(lines()).toHaveLength(2)
  for (const open of gates.splice(0)) open()
  await expect.poll(() => lines().toSorted(), patient).toEqual(['queue', 'queue', 'skip'])
  expect(runtime.schedules.runs(queue.id)[0]?.dueAt).toBe(Date.UTC(2026, 10, 24, 9, 1))
  for (const open of gates) open()
})

test('max_runs and until end a schedule (BI-5)', async () => {
  const { runtime, clock, lines } = await openSchedules()
  const session = runtime.session()
  const twice = await schedule(session, { max_runs: 2 })
  const until = await schedule(session, { until: '2026-11-24T09:01:00Z', input: { line: 'until' } })
  runtime.schedules.start()
  for (let minute = 0; minute < 4; minute++) {
    clock.forward(1)
    await expect.poll(() => runtime.schedules.find(twice.id)?.runs, patient).toBe(Math.min(2, minute + 1))
    await expect.poll(() => lastRunOf(runtime, twice.id)?.state, patient).toBe('ok')
  }
  await expect.poll(() => lines().toSorted(), patient).toEqual(['noted', 'noted', 'until'])
  expect(runtime.schedules.find(twice.id)?.nextAt).toBeUndefined()
  expect(runtime.schedules.find(until.id)).toMatchObject({ runs: 1 })
})

test('the person who is asked sees what runs, how often, in which zone and the next times (BI-5)', async () => {
  const person = personSaying('allow_once')
  const { runtime } = await openSchedules({ policy: {}, approve: person.approve })
  await schedule(runtime.session(), { schedule: '30 2 * * *', time_zone: 'America/New_York' })
  const [{ preview } = { preview: undefined }] = person.asked
  expect(preview?.title).toBe('Create schedule notes')
  expect(preview?.body).toContain('Calls demo.note with {\n  "line": "noted"\n}')
  expect(preview?.body).toContain(
    'At "30 2 * * *" (minute, hour, day, month, day of the week) in America/New_York.',
  )
  expect(preview?.body).toContain('- Wed 2026-11-25 02:30 GMT-05:00')
  expect(preview?.body).toContain('As of now: it would wait for a person each time')
})

test.each([
  [{ schedule: '0 9 * *' }, '/schedule', 'five fields'],
  [{ schedule: '61 9 * * *' }, '/schedule', 'minute'],
  [{ schedule: '0 0 31 2 *' }, '/schedule', 'No date'],
  [{ schedule: '@daily    ' }, '/schedule', 'five fields'],
  [{ time_zone: 'Mars/Olympus' }, '/time_zone', 'IANA'],
  [{ until: '2020-01-01T00:00:00Z' }, '/until', 'later'],
  [{ tool: 'cron.create', input: {} }, '/tool', 'no schedules'],
  [{ prompt: 'both', tool: 'demo.note' }, '/prompt', 'either'],
])('what cannot be scheduled is refused with what is wrong: %j (BI-5)', async (more, pointer, message) => {
  const { runtime } = await openSchedules()
  const base = { name: 'x', schedule: '* * * * *' }
  const work = 'prompt' in more || 'tool' in more ? {} : { tool: 'demo.note', input: { line: 'x' } }
  const { error } = await runtime.session().call('cron.create', { ...base, ...work, ...more })
  expect(error).toMatchObject({ code: 'SCHEMA.VALIDATION_FAILED', reason: 'invalid_input' })
  expect(error?.issues?.map((issue) => issue.pointer)).toContain(pointer)
  expect(error?.message).toContain(message)
  expect(runtime.schedules.list()).toEqual([])
})

test('the input of the scheduled call is checked when the schedule is made (BI-5)', async () => {
  const { runtime } = await openSchedules()
  const session = runtime.session()
  const base = { name: 'x', schedule: '* * * * *' }
  const wrong = await session.call('cron.create', { ...base, tool: 'demo.note', input: { text: 1 } })
  expect(wrong.error).toMatchObject({ code: 'SCHEMA.VALIDATION_FAILED', reason: 'invalid_input' })
  expect(wrong.error?.issues?.map(({ pointer }) => pointer)).toContain('/input/line')
  const unknown = await session.call('cron.create', { ...base, tool: 'demo.nope' })
  expect(unknown.error).toMatchObject({ reason: 'tool_not_available' })
})

test('the names that models know make, list and delete schedules (BI-5, TOOL-8)', async () => {
  const { runtime } = await openSchedules({ policy: allowAll })
  const session = runtime.session()
  const call = (tool: string, input: object) =>
    session.call(tool, { ...input }, { presentation: 'compatible' })
  const made = await call('CronCreate', {
    name: 'news',
    schedule: '0 8 * * *',
    command: 'Look for news.',
    recurring: false,
  })
  expect(made.data).toMatchObject({ schedule: { prompt: 'Look for news.', max_runs: 1 } })
  const { id } = (made.data as { schedule: { id: string } }).schedule
  expect((await call('CronList', {})).data).toMatchObject({ schedules: [{ id }] })
  expect((await call('CronDelete', { id })).ok).toBe(true)
  expect((await call('CronDelete', { id })).error?.reason).toBe('unknown_schedule')
  expect((await call('CronList', {})).data).toEqual({ schedules: [] })
})
