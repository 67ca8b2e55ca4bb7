import { AIMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import {
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import type { Session } from 'handrail'
import type { PendingApprovals, SuspendedCalls } from 'handrail/approvals'
import { langChain } from 'handrail/langchain'
import { describe, expect, test } from 'vitest'
import { openDoorShop } from '../support/door-shop.ts'

interface Made {
  readonly id: string
  readonly name: string
  readonly args: Record<string, unknown>
}

const refund = (id: string, order = '12'): Made => ({ id, name: 'shop__refund', args: { order } })
const write = (id: string): Made => ({ id, name: 'shop__write', args: { id } })

function open(session: Session, approvals?: PendingApprovals) {
  return langChain(session, { tool, interrupt, ...(approvals && { approvals }) })
}

type Door = ReturnType<typeof open>

/** A graph in which a model makes these calls, and then ends. */
function graphOf(calls: readonly Made[], tools: Door['node'] | ToolNode, checkpointer: BaseCheckpointSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode('model', () => ({
      messages: [
        new AIMessage({ content: '', tool_calls: calls.map((call) => ({ ...call, type: 'tool_call' })) }),
      ],
    }))
    .addNode('tools', tools)
    .addEdge(START, 'model')
    .addEdge('model', 'tools')
    .addEdge('tools', END)
    .compile({ checkpointer })
}

const config = { configurable: { thread_id: '1' } }
const begin = { messages: [{ role: 'user', content: 'Go.' }] }

function shown({ messages }: { messages: BaseMessage[] }): ToolMessage[] {
  return messages.filter((message) => message instanceof ToolMessage)
}

/** What a run was interrupted with. */
function asked(state: object): SuspendedCalls['approvals'] {
  const { __interrupt__ = [] } = state as { __interrupt__?: { value: SuspendedCalls }[] }
  return __interrupt__.flatMap(({ value }) => value.approvals)
}

test('texts, images, errors and artifacts come back in the form of LangChain, under their ids', async () => {
  const { runtime } = await openDoorShop()
  const door = open(runtime.session())
  expect(door.tools.map((each) => convertToOpenAITool(each).function)).toContainEqual(
    expect.objectContaining({
      name: 'shop__look',
      parameters: expect.objectContaining({ required: ['order'] }),
    }),
  )
  const calls = ['photo', 'broken', 'report', 'look'].map((each) => ({
    id: `call ${each}`,
    name: `shop__${each}`,
    args: each === 'look' ? { order: '7' } : {},
  }))
  const wrong = [
    { id: 'call wrong', name: 'shop__look', args: {} },
    { id: 'call bogus', name: 'shop__bogus', args: {} },
  ]
  const state = await graphOf([...calls, ...wrong], door.node, new MemorySaver()).invoke(begin, config)
  expect(shown(state)).toMatchObject([
    {
      tool_call_id: 'call photo',
      status: 'success',
      content: [{ type: 'text' }, { type: 'image', mime_type: 'image/png' }],
    },
    {
      tool_call_id: 'call broken',
      status: 'error',
      content: expect.stringContaining('Use shop__look instead.'),
    },
    {
      tool_call_id: 'call report',
      content: expect.stringMatching(/\[artifact handrail:\/\/artifact\/call_\w+\/sha256:/),
    },
    { tool_call_id: 'call look', content: '{"state":"paid 7"}', artifact: { data: { state: 'paid 7' } } },
    { tool_call_id: 'call wrong', status: 'error', content: expect.stringContaining('"order" is missing') },
    { tool_call_id: 'call bogus', status: 'error', content: expect.stringContaining('shop__broken') },
  ])
  expect([...runtime.store.records({ kind: 'end' })]).toHaveLength(6)
})

test('progress goes to the custom stream of the graph', async () => {
  const { runtime } = await openDoorShop()
  const graph = graphOf(
    [{ id: 'a', name: 'shop__count', args: {} }],
    open(runtime.session()).node,
    new MemorySaver(),
  )
  const chunks: unknown[] = []
  for await (const chunk of await graph.stream(begin, { ...config, streamMode: 'custom' })) chunks.push(chunk)
  expect(chunks).toEqual([
    { type: 'tool_progress', toolCallId: 'a', message: 'counted a half', done: 1, total: 2 },
  ])
})

test('a tool by itself says that its call waits', async () => {
  const { runtime, done } = await openDoorShop()
  const refunds = open(runtime.session()).tools.find(({ name }) => name === 'shop__refund')
  // The type of `tool` leaves open whether it made a tool of one string.
  const { invoke } = refunds as unknown as { invoke: (call: object) => Promise<unknown> }
  const message = await invoke.call(refunds, { ...refund('call_1'), type: 'tool_call' })
  expect(message).toMatchObject({ status: 'error', content: expect.stringContaining('waits for a person') })
  expect(done).toEqual([])
})

describe('approvals', () => {
  test('one interrupt asks about all calls that wait, and nothing runs before or twice (PERM-3)', async () => {
    const { runtime, seen, path } = await openDoorShop()
    const calls = [write('a'), refund('r1'), write('b'), refund('r2', '13')]
    const checkpointer = new MemorySaver()
    const first = await graphOf(calls, open(runtime.session({ actor: 'ann' })).node, checkpointer).invoke(
      begin,
      config,
    )
    const questions = asked(first)
    expect(questions).toMatchObject([
      { toolCallId: 'r1', tool: 'shop__refund', preview: { title: expect.any(String) } },
      { toolCallId: 'r2' },
    ])
    expect(seen).toEqual([])
    await runtime.close()

    const next = await openDoorShop(path)
    const door = open(next.runtime.session({ actor: 'ann' }), next.runtime.approvals)
    const graph = graphOf(calls, door.node, checkpointer)
    const [one, two] = questions.map(({ id }) => id)
    const part = await graph.invoke(
      new Command({ resume: { [one ?? '']: { decision: 'allow_once', by: 'bob' } } }),
      config,
    )
    expect(asked(part).map(({ id }) => id)).toEqual([two])
    expect([next.done, next.seen]).toEqual([[], []])
    const last = await graph.invoke(
      new Command({ resume: { [two ?? '']: { decision: 'deny', by: 'bob' } } }),
      config,
    )
    expect(next.done).toEqual(['12'])
    expect(next.seen).toEqual(['+a', '-a', '+b', '-b'])
    expect(shown(last).map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([
      ['a', 'success'],
      ['r1', 'success'],
      ['b', 'success'],
      ['r2', 'error'],
    ])
  })

  test('a graph goes on with what was decided elsewhere (AUTH-3)', async () => {
    const { runtime, done } = await openDoorShop()
    const door = open(runtime.session(), runtime.approvals)
    const graph = graphOf([refund('r1')], door.node, new MemorySaver())
    const [question] = asked(await graph.invoke(begin, config))
    await runtime.approvals.decide(question?.id ?? '', { decision: 'allow_once', by: 'bob' })
    expect(shown(await graph.invoke(new Command({ resume: 'go on' }), config))).toMatchObject([
      { status: 'success' },
    ])
    expect(done).toEqual(['12'])
  })

  test('the tools interrupt a ToolNode too, and an answer to another question or without a name allows nothing', async () => {
    const { runtime, done } = await openDoorShop()
    const door = open(runtime.session(), runtime.approvals)
    const graph = graphOf([refund('r1')], new ToolNode(door.tools), new MemorySaver())
    const [question] = asked(await graph.invoke(begin, config))
    const id = question?.id ?? ''
    const useless = [
      true,
      { apr_other: { decision: 'allow_once', by: 'bob' } },
      { [id]: { decision: 'allow_once' } },
    ]
    for (const resume of useless)
      expect(asked(await graph.invoke(new Command({ resume }), config))).toMatchObject([{ id }])
    expect(done).toEqual([])
    const last = await graph.invoke(
      new Command({ resume: { [id]: { decision: 'allow_once', by: 'bob' } } }),
      config,
    )
    expect(shown(last)).toMatchObject([{ status: 'success', content: '{"refunded":"12"}' }])
    expect(done).toEqual(['12'])
  })
})
