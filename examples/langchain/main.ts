// A graph of LangGraph is interrupted before a refund, and goes on after a restart.
import { AIMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import {
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import type { SuspendedCalls } from 'handrail/approvals'
import { langChain } from 'handrail/langchain'
import { openShop } from '../shop.ts'

const [path = 'shop.db'] = process.argv.slice(2)
// In the place of one in a database.
const checkpointer = new MemorySaver()
const config = { configurable: { thread_id: 'order 12' } }
// In the place of a real model, so that the example runs without a key.
const answer = new AIMessage({
  content: '',
  tool_calls: [
    { id: 'call_1', name: 'shop__look', args: { order: '12' }, type: 'tool_call' },
    { id: 'call_2', name: 'shop__refund', args: { order: '12' }, type: 'tool_call' },
  ],
})

async function open() {
  const runtime = await openShop(path)
  const session = runtime.session({ actor: 'ann' })
  const door = langChain(session, { tool, interrupt, approvals: runtime.approvals })
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', () => ({ messages: [answer] }))
    .addNode('tools', door.node)
    .addEdge(START, 'model')
    .addEdge('model', 'tools')
    .addEdge('tools', END)
    .compile({ checkpointer })
  return { runtime, graph }
}

const before = await open()
const first = await before.graph.invoke(
  { messages: [{ role: 'user', content: 'Pay order 12 back.' }] },
  config,
)
const { __interrupt__: interrupts = [] } = first as { __interrupt__?: { value: SuspendedCalls }[] }
const [question] = interrupts.flatMap(({ value }) => value.approvals)
console.log('asked:', question?.title)
await before.runtime.close()

const after = await open()
const resume = { [question?.id ?? '']: { decision: 'allow_once', by: 'bob' } }
const { messages } = await after.graph.invoke(new Command({ resume }), config)
for (const message of messages.slice(-2)) console.log('model:', message.content)
await after.runtime.close()
