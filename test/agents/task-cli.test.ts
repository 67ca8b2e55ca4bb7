import { expect, test } from 'vitest'
import { handrail, makePlace } from '../support/command-line.ts'

interface Shown {
  ok: boolean
  data: { task: { task_id: string }; counts: object; tasks: { task_id: string }[] }
}

test('the command line has tasks if config.json asks for the group, and keeps them (BI-3)', async () => {
  const place = makePlace(
    {},
    {
      'config.json': { toolGroups: ['task'] },
      'policy.json': { rules: [{ effect: 'allow', tools: ['agent.task_*'] }] },
    },
  )
  const call = async (tool: string, input: object): Promise<Shown> => {
    const { stdout } = await handrail(place, ['call', tool, JSON.stringify(input), '--json'])
    return JSON.parse(stdout) as Shown
  }
  const { data } = await call('agent.task_create', { title: 'x', steps: [{ step_id: 'a', title: 'A' }] })
  const task_id = data.task.task_id
  expect((await call('agent.task_list', {})).data.tasks).toMatchObject([{ task_id, steps: 1 }])
  expect((await call('agent.task_claim_step', { task_id })).data).toMatchObject({ step: { step_id: 'a' } })
  expect((await call('agent.task_get', { task_id })).data.counts).toMatchObject({ running: 1 })
  const { stdout } = await handrail(place, ['tools'])
  expect(stdout).toContain('agent.task_claim_step')
  expect((await handrail(makePlace(), ['tools'])).stdout).not.toContain('agent.task_')
  expect((await handrail(place, ['evidence', 'verify'])).code).toBe(0)

  // The same for the person who looks.
  const show = async (...argv: string[]) => (await handrail(place, ['tasks', ...argv])).stdout
  expect(await show()).toMatch(new RegExp(`^${task_id}  .*  running  1 step  x\\n1 task\\n$`))
  expect(await show('show', 'last')).toMatch(
    /steps {5}1 running\n\n {2}running {4}a {2}A {2}claim 1 of \S+ until /,
  )
  expect(JSON.parse(await show('show', task_id.slice(-5), '--json'))).toMatchObject({
    task: { id: task_id },
    steps: [{ id: 'a', state: 'running' }],
  })
  expect(await show('--actor', 'ann')).toBe('0 tasks\n')
  await call('agent.task_cancel', { task_id, reason: 'Not wanted.' })
  expect([await show(), await show('--all')]).toEqual(['0 tasks\n', expect.stringContaining('cancelled')])
  const missing = await handrail(place, ['tasks', 'show', 'nothing'])
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('no task "nothing"')])
})
