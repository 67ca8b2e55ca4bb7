import { join } from 'node:path'
import { createRuntime } from 'handrail'
import { delegationTools } from 'handrail/agents'
import { taskTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { makePlace, onBundle, startProgram } from '../support/command-line.ts'
import { modelOf, say, allowAgents } from './open-team.ts'
import { steps, workOn } from './task-doors.ts'

const program = join(import.meta.dirname, 'killed-worker.ts')
const leaseMs = 300_000

test('a worker that is killed loses its lease and nothing else: its place is free, and it goes on or another one does (BI-2, BI-3)', async () => {
  const place = makePlace()
  let later = 0
  const open = async () => {
    const runtime = await createRuntime({
      project: place.project,
      home: place.project,
      tools: [delegationTools(), taskTools()],
      policy: allowAgents,
      store: { path: join(place.project, 'store.db') },
      now: () => Date.now() + later,
    })
    atEnd(() => runtime.close())
    return runtime
  }
  const runtime = await open()
  const author = workOn(runtime.session())
  const task = await author.create(steps({ a: [], b: [], c: [] }))
  const running = startProgram(place, [onBundle, program, place.project, task])
  const { child, output, ended } = running
  await running.saw('claimed')
  const idle = async () =>
    (await author.session.call('agent.list_workers')).data as { pools: { idle: number }[] }
  expect(await idle()).toMatchObject({ pools: [{ idle: 3 }] })
  child.kill('SIGKILL')
  await ended
  // The store notices by itself that the process is gone.
  await expect.poll(idle).toMatchObject({ pools: [{ idle: 4 }] })
  // Its claim stands until the lease is over; then another one has the step.
  expect(await author.stand(task)).toEqual({ a: 'running', b: 'ready', c: 'ready' })
  expect(await author.refusal('claim_step', { task_id: task, step_id: 'a' })).toBe('step_not_ready')
  const other = workOn(runtime.session({ role: 'worker' }))
  later = leaseMs
  expect(await other.claim(task, 'a')).toMatchObject({ step_id: 'a', attempt: 2 })
  // The run that dispatched it goes on with the same worker, which has lost "a" and may still do "b", and never "c".
  const id = /run_\w+/.exec(output.stdout)?.[0] ?? ''
  const claim = (step_id: string) => say('task_claim_step', { task_id: task, step_id })
  const close = (step_id: string) =>
    say('task_update_step', { task_id: task, step_id, attempt: 1, status: 'completed' })
  const { model, asked } = modelOf({
    'You are the worker': [close('a'), claim('c'), claim('b'), close('b'), { text: 'b is done.' }],
    'Have it done.': [{ text: 'Done.' }],
  })
  const result = await (await runtime.run({ model, resume: id })).result
  expect(result).toMatchObject({ endReason: 'completed', text: 'Done.' })
  const told = JSON.stringify(asked['You are the worker']?.at(-1)?.prompt)
  expect(told).toContain('claim_lost')
  expect(told).toContain('step_not_allowed')
  expect(await author.stand(task)).toEqual({ a: 'running', b: 'completed', c: 'ready' })
  expect(await idle()).toMatchObject({ pools: [{ idle: 4 }] })
})
