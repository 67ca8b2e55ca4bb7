import {
  Agent,
  run,
  RunState,
  setTracingDisabled,
  Usage,
  type AgentInputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
} from '@openai/agents-core'
import { openAiAgents, type OpenAiAgentsDoor } from 'handrail/openai-agents'
import { expect, test } from 'vitest'
import { openDoorShop } from '../support/door-shop.ts'

setTracingDisabled(true)

interface Made {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

const refund = (id: string, order = '12'): Made => ({ id, name: 'shop__refund', input: { order } })

/** A model that makes these calls, answer by answer, and then says that it is done. */
class ScriptedModel implements Model {
  readonly requests: ModelRequest[] = []
  readonly #answers: (readonly Made[])[]
  constructor(...answers: (readonly Made[])[]) {
    this.#answers = answers
  }
  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    this.requests.push(request)
    const calls = this.#answers.shift() ?? []
    if (calls.length === 0)
      return {
        usage: new Usage(),
        output: [
          {
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: 'done' }],
          },
        ],
      }
    return {
      usage: new Usage(),
      output: calls.map(({ id, name, input }) => ({
        type: 'function_call',
        callId: id,
        name,
        status: 'completed',
        arguments: typeof input === 'string' ? input : JSON.stringify(input),
      })),
    }
  }
  getStreamedResponse(): AsyncIterable<never> {
    throw new Error('It does not stream.')
  }
  /** What it was shown of results at its last call. */
  shown(): { id: string; output: unknown }[] {
    const input = this.requests.at(-1)?.input
    return (Array.isArray(input) ? input : []).flatMap((item: AgentInputItem) =>
      item.type === 'function_call_result' ? [{ id: item.callId, output: item.output }] : [],
    )
  }
}

const agentOf = (door: OpenAiAgentsDoor, model: Model) =>
  new Agent({ name: 'Shop', model, tools: [...door.tools] })

test('texts, images, errors and artifacts come back in the form of the SDK, under their ids', async () => {
  const { runtime } = await openDoorShop()
  const model = new ScriptedModel(
    ['photo', 'broken', 'report', 'look'].map((each) => ({
      id: `call ${each}`,
      name: `shop__${each}`,
      input: each === 'look' ? { order: '7' } : {},
    })),
  )
  const { finalOutput } = await run(agentOf(openAiAgents(runtime.session()), model), 'Go.')
  expect(finalOutput).toBe('done')
  expect(model.requests[0]?.tools).toContainEqual(
    expect.objectContaining({
      name: 'shop__look',
      strict: false,
      parameters: expect.objectContaining({ required: ['order'] }),
    }),
  )
  expect(model.shown()).toMatchObject([
    {
      id: 'call photo',
      output: [
        { type: 'input_text', text: expect.stringContaining('the shop') },
        { type: 'input_image', image: expect.stringContaining('data:image/png;base64,') },
      ],
    },
    { id: 'call broken', output: { text: expect.stringContaining('Use shop__look instead.') } },
    {
      id: 'call report',
      output: { text: expect.stringMatching(/\[artifact handrail:\/\/artifact\/call_\w+\/sha256:/) },
    },
    { id: 'call look', output: { text: '{"state":"paid 7"}' } },
  ])
})

test('calls of one answer are one step, in which a write runs alone', async () => {
  const { runtime, seen } = await openDoorShop()
  const write = (id: string): Made => ({ id, name: 'shop__write', input: { id } })
  const model = new ScriptedModel([
    write('a'),
    write('b'),
    { id: 'x', name: 'shop__refund', input: {} },
    write('c'),
  ])
  await run(agentOf(openAiAgents(runtime.session()), model), 'Go.')
  expect(seen).toEqual(['+a', '-a', '+b', '-b'])
  expect(JSON.stringify(model.shown().at(-1))).toContain('not_run_after_failed_write')
})

test('broken JSON and inputs that are no objects get results that the model can act on', async () => {
  const { runtime } = await openDoorShop()
  const inputs = ['{"order": ', '[1]', 'null', '"12"', '{"order":{"__proto__":{}}}']
  const model = new ScriptedModel(
    inputs.map((input, index) => ({ id: `${index}`, name: 'shop__look', input })),
  )
  const door = openAiAgents(runtime.session(), { approvals: runtime.approvals })
  const agent = agentOf(door, model)
  const { state } = await run(agent, 'Go.')
  // The SDK interrupts for what is no object, without a question of Handrail.
  const [item] = state.getInterruptions()
  expect(item && (await door.question(item))).toBeUndefined()
  expect(item && (await door.answered(state, { item, approved: true, by: 'bob' }))).toMatchObject({
    state: 'ignored',
  })
  expect(await door.decided(state)).toBe(0)
  expect((await run(agent, state)).finalOutput).toBe('done')
  const shown = model.shown().map(({ output }) => JSON.stringify(output))
  expect(shown).toHaveLength(inputs.length)
  for (const text of shown) expect(text).toMatch(/SCHEMA\.VALIDATION_FAILED|parsing|JSON/)
})

test('an interruption is answered after a restart from the serialised state, and the call runs once (PERM-3)', async () => {
  const { runtime, path, done } = await openDoorShop()
  const before = openAiAgents(runtime.session({ actor: 'ann' }))
  const first = await run(agentOf(before, new ScriptedModel([refund('call_1')])), 'Pay it back.')
  const [item] = first.interruptions
  expect(item && (await before.question(item))).toMatchObject({
    state: 'waiting',
    request: { tool: 'shop.refund' },
  })
  expect(done).toEqual([])
  const text = first.state.toString()
  await runtime.close()
  const next = await openDoorShop(path)
  const door = openAiAgents(next.runtime.session({ actor: 'ann' }), { approvals: next.runtime.approvals })
  const model = new ScriptedModel()
  const agent = agentOf(door, model)
  const state = await RunState.fromString(agent, text)
  for (const each of state.getInterruptions())
    expect(await door.answered(state, { item: each, approved: true, by: 'bob' })).toMatchObject({
      state: 'allowed',
    })
  expect((await run(agent, state)).finalOutput).toBe('done')
  expect(next.done).toEqual(['12'])
  expect(model.shown()).toMatchObject([{ id: 'call_1', output: { text: '{"refunded":"12"}' } }])
  // The same state once more.
  const again = await RunState.fromString(agent, text)
  for (const each of again.getInterruptions()) again.approve(each)
  await run(agent, again)
  expect(next.done).toEqual(['12'])
  expect(JSON.stringify(model.shown())).toContain('APPROVAL_PENDING')
})

test('a refusal is recorded with who said it, and nothing runs (AUTH-3)', async () => {
  const { runtime, done } = await openDoorShop()
  const door = openAiAgents(runtime.session({ actor: 'ann' }), { approvals: runtime.approvals })
  const model = new ScriptedModel([refund('call_1')])
  const agent = agentOf(door, model)
  const { state, interruptions } = await run(agent, 'Go.')
  for (const item of interruptions)
    await door.answered(state, { item, approved: false, by: 'bob', reason: 'no' })
  expect((await run(agent, state)).finalOutput).toBe('done')
  expect(done).toEqual([])
  expect(runtime.approvals.list()).toEqual([])
  expect(JSON.stringify([...runtime.store.records({})])).toContain('bob')
})

test('an approval in the state alone leaves the call waiting (PERM-3)', async () => {
  const { runtime, done } = await openDoorShop()
  const model = new ScriptedModel([refund('call_1')])
  const agent = agentOf(openAiAgents(runtime.session()), model)
  const { state, interruptions } = await run(agent, 'Go.')
  for (const item of interruptions) state.approve(item)
  await run(agent, state)
  expect(done).toEqual([])
  expect(JSON.stringify(model.shown())).toContain('waits for a person')
  expect(runtime.approvals.list()).toHaveLength(1)
})

test('a run goes on with what was decided elsewhere (AUTH-3)', async () => {
  const { runtime, done } = await openDoorShop()
  const door = openAiAgents(runtime.session())
  const model = new ScriptedModel([refund('call_1'), refund('call_2', '13')])
  const agent = agentOf(door, model)
  const { state } = await run(agent, 'Go.')
  expect(await door.decided(state)).toBe(2)
  for (const [index, { id }] of runtime.approvals.list().entries())
    await runtime.approvals.decide(id, { decision: index === 0 ? 'allow_once' : 'deny', by: 'bob' })
  expect(await door.decided(state)).toBe(0)
  expect((await run(agent, state)).finalOutput).toBe('done')
  expect(done).toEqual(['12'])
  expect(JSON.stringify(model.shown())).toContain('The person denied')
})
