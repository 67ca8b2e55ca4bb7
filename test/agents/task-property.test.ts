import { assert, asyncProperty, array, constantFrom, integer, record } from 'fast-check'
import { expect, test } from 'vitest'
import { rounds } from '../support/rounds.ts'
import { openTasks, workOn, type ShownStep } from './task-doors.ts'

const names = ['a', 'b', 'c', 'd', 'e', 'f']
const kinds = [
  'add_step',
  'delete_step',
  'add_dependency',
  'remove_dependency',
  'cancel_step',
  'reopen_step',
  'claim',
  'completed',
  'failed',
  'ready',
  'running',
  'wait',
] as const
const someName = constantFrom(...names)
const someAct = record({
  kind: constantFrom(...kinds),
  step_id: someName,
  on: someName,
  ms: integer({ min: 0, max: 200_000 }),
})

test('whatever authors and workers do, a step is ready just when all that it depends on is completed (BI-3)', async () => {
  let now = 1_000_000
  const runtime = await openTasks({ now: () => now, limits: { repeatsPerSession: 1_000_000 } })
  let done = 0
  const play = asyncProperty(array(someAct, { minLength: 10, maxLength: 60 }), async (acts) => {
    const session = runtime.session()
    const { create, data } = workOn(session)
    const task_id = await create([])
    const look = async () => {
      const { steps } = await data<{ steps: ShownStep[] }>('query_steps', { task_id, status: 'all' })
      const { counts } = await data<{ counts: Record<string, number> }>('get', { task_id })
      return { steps, counts }
    }
    for (const { kind, step_id, on, ms } of acts) {
      const before = await look()
      let ok = true
      if (kind === 'wait') now += ms
      else if (kind === 'claim') ok = (await session.call('agent.task_claim_step', { task_id, step_id })).ok
      else if (kind === 'completed' || kind === 'failed' || kind === 'ready' || kind === 'running') {
        const attempt = before.steps.find((step) => step.step_id === step_id)?.attempt ?? 1
        ok = (
          await session.call('agent.task_update_step', {
            task_id,
            step_id,
            attempt: Math.max(attempt, 1),
            status: kind,
          })
        ).ok
      } else {
        const more = {
          ...(kind === 'add_step' && { title: 'x', depends_on: on === step_id ? [] : [on] }),
          ...(kind.endsWith('_dependency') && { depends_on: [on] }),
        }
        ok = (
          await session.call('agent.task_update', { task_id, operations: [{ op: kind, step_id, ...more }] })
        ).ok
      }
      const after = await look()
      if (ok) done++
      else expect(after).toEqual(before)
      expectSound(after)
    }
    await session.close()
  })
  await assert(play, { numRuns: rounds({ usual: 20, long: 2000 }) })
  // Most are refused, and not all.
  expect(done).toBeGreaterThan(20)
})

function expectSound({
  steps,
  counts,
}: {
  steps: readonly ShownStep[]
  counts: Record<string, number>
}): void {
  const known = new Map(steps.map((step) => [step.step_id, step]))
  const tally = { running: 0, ready: 0, pending: 0, failed: 0, completed: 0, cancelled: 0 }
  for (const { status, depends_on } of steps) {
    tally[status as keyof typeof tally]++
    const free = depends_on.every((on) => known.get(on)?.status === 'completed')
    if (status === 'ready' || status === 'running' || status === 'completed') expect(free).toBe(true)
    if (status === 'pending') expect(free).toBe(false)
  }
  expect(counts).toEqual(tally)
  const reaches = (from: string, to: string): boolean =>
    (known.get(from)?.depends_on ?? []).some((on) => on === to || reaches(on, to))
  expect(steps.filter(({ step_id }) => reaches(step_id, step_id))).toEqual([])
}
