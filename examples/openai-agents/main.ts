// An agent of @openai/agents is interrupted before a refund, and goes on from its serialised state after a restart.
import { Agent, run, RunState, setTracingDisabled } from '@openai/agents-core'
import { openAiAgents } from 'handrail/openai-agents'
import { openShop } from '../shop.ts'
import { createModel } from './model.ts'

const [path = 'shop.db'] = process.argv.slice(2)
setTracingDisabled(true)
const model = createModel()
let saved = ''

{
  const runtime = await openShop(path)
  const session = runtime.session({ actor: 'ann' })
  const door = openAiAgents(session, { approvals: runtime.approvals })
  const agent = new Agent({ name: 'Shop', model, tools: [...door.tools] })
  const result = await run(agent, 'Pay order 12 back.')
  for (const item of result.interruptions)
    console.log('asked:', (await door.question(item))?.request.preview.title)
  saved = result.state.toString()
  await runtime.close()
}

const runtime = await openShop(path)
const session = runtime.session({ actor: 'ann' })
const door = openAiAgents(session, { approvals: runtime.approvals })
const agent = new Agent({ name: 'Shop', model, tools: [...door.tools] })
const state = await RunState.fromString(agent, saved)
for (const item of state.getInterruptions()) {
  const { state: became } = await door.answered(state, { item, approved: true, by: 'bob' })
  console.log('answered:', became)
}
const { finalOutput } = await run(agent, state)
console.log('model:', finalOutput)
await runtime.close()
