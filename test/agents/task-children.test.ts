import { codeTools } from 'handrail'
import { delegationTools } from 'handrail/agents'
import { taskTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { modelSaying, toldResults, type Said } from '../support/mock-model.ts'
import { allowTasks, openTasks, steps, workOn } from './task-doors.ts'

test('an agent that another one starts does a step of their task, and no more than that (BI-3, AGENT-2, POOL-4)', async () => {
  const runtime = await openTasks({
    tools: [codeTools(), delegationTools(), taskTools()],
    sandbox: 'host',
    policy: { rules: [...allowTasks.rules, { effect: 'allow', tools: ['agent.*'] }] },
  })
  const author = workOn(runtime.session())
  const task_id = await author.create(steps({ a: [], b: ['a'] }))
  const own = { task_id, step_id: 'a', attempt: 1 }
  const say = (tool: string, input: object): Said => ({ calls: [{ tool: `agent__${tool}`, input }] })
  const { model, asked } = modelSaying([
    say('create_sub_agent', { task: 'Do a step.', allowed_tools: ['agent.task_*'] }),
    say('task_claim_step', { task_id }),
    say('task_cancel', { task_id }),
    say('task_update_step', { ...own, status: 'completed', output: 'done' }),
    { text: 'I did a.' },
    // What the child had claimed is not its parent's.
    say('task_update_step', { ...own, status: 'failed' }),
    { text: 'It is done.' },
  ])
  const run = await runtime.run({ model, prompt: 'Go.' })
  expect(await run.result).toMatchObject({ endReason: 'completed', text: 'It is done.' })
  const told = asked.flatMap((each) => toldResults(each))
  expect(told.some((text) => text.includes('tool_not_available') || text.includes('role_denied'))).toBe(true)
  expect(told.some((text) => text.includes('claim_lost'))).toBe(true)
  expect(await author.stand(task_id)).toEqual({ a: 'completed', b: 'ready' })
})
