import { defineTool } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime } from '../support/project.ts'
import { makeShop } from '../support/shop.ts'
import { modelApis } from './model-apis.ts'

const look = (id: string, order = '12') => ({ id, name: 'shop__look', input: { order } })

async function openSession() {
  const shop = makeShop()
  const tools = shop.tools.filter(({ definition }) => /look|refund/.test(definition.name))
  const wait = defineTool({
    name: 'shop.note',
    description: 'Needs nothing. Look with shop.look first.',
    permission: 'readonly',
    input: { type: 'object', properties: {} },
    run: () => 'noted',
  })
  const runtime = await openRuntime({ tools: [...tools, wait], store: 'memory' })
  return { done: shop.done, runtime, session: runtime.session() }
}

test.for(modelApis)(
  '$api: calls of one answer run, and every result goes back under its id (PROV-1)',
  async (kind) => {
    const { session } = await openSession()
    const door = kind.open(session)
    const { messages, waiting } = await door.results(kind.answer([look('call_1'), look('call_2', '13')]))
    expect(waiting).toEqual([])
    expect(kind.results(messages)).toEqual([
      { id: 'call_1', text: '{"state":"paid 12"}', isError: false },
      { id: 'call_2', text: '{"state":"paid 13"}', isError: false },
    ])
  },
)

test.for(modelApis)('$api: an answer without calls has nothing to append (PROV-1)', async (kind) => {
  const { session } = await openSession()
  expect(await kind.open(session).results(kind.answer([]))).toMatchObject({ messages: [], waiting: [] })
})

test.for(modelApis)(
  '$api: names lead back exactly, and descriptions and errors name tools as they go out (NAME-5, PROV-1)',
  async (kind) => {
    const { session } = await openSession()
    const door = kind.open(session)
    expect(kind.names(door.tools)).toEqual(['shop__look', 'shop__note', 'shop__refund'])
    expect(JSON.stringify(door.tools)).toContain('Look with shop__look first.')
    const { messages } = await door.results(kind.answer([{ id: 'a', name: 'shop__lok', input: {} }]))
    const [result] = kind.results(messages)
    expect(result?.isError).toBe(true)
    expect(result?.text).toContain('shop__look')
    expect(result?.text).not.toContain('shop.look')
  },
)

test.for(modelApis)(
  '$api: definitions are plain copies in one order, byte for byte (REG-9)',
  async (kind) => {
    const { session, runtime } = await openSession()
    const door = kind.open(session)
    const first = JSON.stringify(door.tools)
    const [tool] = door.tools as { changed?: true }[]
    if (tool !== undefined) tool.changed = true
    expect(JSON.stringify(door.tools)).toBe(first)
    expect(JSON.stringify(kind.open(runtime.session()).tools)).toBe(first)
  },
)

test.for(modelApis)(
  '$api: what a model sends wrong has a result that it can act on (PROV-1)',
  async (kind) => {
    const { session } = await openSession()
    const door = kind.open(session)
    const wrong: unknown[] = ['', 'shop__nothing', '__proto__', 7, null, undefined, 'x'.repeat(5_000)]
    const calls = wrong.map((name, index) => ({
      id: `call_${index}`,
      name: name as string,
      input: { order: '1' },
    }))
    const { messages } = await door.results(
      kind.answer([...calls, look('fine'), { ...look('many'), input: { order: 'y'.repeat(10_000_000) } }]),
    )
    const results = kind.results(messages)
    expect(results.map(({ isError }) => isError)).toEqual([...wrong.map(() => true), false, true])
    expect(results.at(-1)?.text).toContain('input_too_large')
  },
)

test.for(modelApis)(
  '$api: a call that the token limit cut off does not run, and the model is told (PROV-1)',
  async (kind) => {
    const { session } = await openSession()
    const cut = { id: 'b', name: 'shop__note', input: kind.api.startsWith('OpenAI') ? '{"order": "1' : {} }
    const { messages } = await kind.open(session).results(kind.answer([look('a'), cut], true))
    const [whole, broken] = kind.results(messages)
    expect(whole?.isError).toBe(false)
    expect(broken).toMatchObject({ id: 'b', isError: true })
    expect(broken?.text).toMatch(/^The answer ended before this call was complete, so the call did not run\./)
  },
)

test.for(modelApis)(
  '$api: two calls with one id have a result each, in call order (PROV-1)',
  async (kind) => {
    const { session } = await openSession()
    const { messages } = await kind.open(session).results(kind.answer([look('same', '1'), look('same', '2')]))
    expect(kind.results(messages).map(({ id, text }) => [id, text])).toEqual([
      ['same', '{"state":"paid 1"}'],
      ['same', '{"state":"paid 2"}'],
    ])
  },
)

test.for(modelApis)('$api: ids of any length and numbers come back as they came (PROV-1)', async (kind) => {
  const { session } = await openSession()
  const ids: unknown[] = ['i'.repeat(3_000), 42, 'räksmörgås/1 ']
  const { messages } = await kind.open(session).results(kind.answer(ids.map((id) => look(id as string))))
  expect(kind.results(messages).map(({ id }) => id)).toEqual(ids)
})

test.for(modelApis)(
  '$api: a call that asks waits, and goes on in another session once it is answered (PROV-1)',
  async (kind) => {
    const { session, runtime, done } = await openSession()
    const door = kind.open(session)
    const refund = { id: 'r', name: 'shop__refund', input: { order: '9' } }
    const first = await door.results(kind.answer([look('l'), refund]))
    expect([first.messages, first.waiting.length, done]).toEqual([[], 1, []])
    const [question] = runtime.approvals.list()
    await runtime.approvals.decide(question?.id ?? '', { decision: 'allow_once', by: 'ann' })
    const kept = JSON.parse(JSON.stringify(first.step)) as typeof first.step
    const { messages, waiting } = await kind.open(runtime.session()).resume(kept)
    expect([waiting, done]).toEqual([[], ['9']])
    expect(kind.results(messages)).toEqual([
      { id: 'l', text: '{"state":"paid 12"}', isError: false },
      { id: 'r', text: '{"refunded":"9"}', isError: false },
    ])
  },
)

test.for(modelApis)(
  '$api: what is no answer of the API is a TypeError that says what is (PROV-1)',
  async (kind) => {
    const { session } = await openSession()
    const door = kind.open(session)
    for (const given of [null, 'text', 7, [], { id: 'resp_1', object: 'something' }])
      await expect(door.results(given as never)).rejects.toThrow(/door\.results takes .*; found /)
  },
)

test('five hundred calls of one answer have five hundred results (PROV-1)', async () => {
  const { session } = await openSession()
  for (const kind of modelApis.slice(0, 2)) {
    const calls = Array.from({ length: 500 }, (_, index) => look(`call_${index}`, `${index}`))
    const { messages } = await kind.open(session).results(kind.answer(calls))
    expect(kind.results(messages).map(({ text }) => text)).toEqual(
      calls.map((_, index) => `{"state":"paid ${index}"}`),
    )
  }
})

test('the names that models know are shown if that is wanted (NAME-5)', async () => {
  const { codeTools } = await import('handrail')
  const project = makeFolder({ 'a.txt': 'hello\n' })
  const runtime = await openRuntime({ project, tools: [codeTools()], store: 'memory' })
  for (const kind of modelApis) {
    const door = kind.open(runtime.session(), { presentation: 'compatible' })
    expect(kind.names(door.tools)).toContain('Read')
    const call = { id: 'a', name: 'Read', input: { file_path: 'a.txt' } }
    const { messages } = await door.results(kind.answer([call]))
    expect(kind.results(messages)).toMatchObject([{ id: 'a', isError: false }])
  }
})

test.for(modelApis)(
  '$api: a tool that is paused after the model saw it is no unknown tool (NAME-5)',
  async (kind) => {
    const { session, runtime } = await openSession()
    const door = kind.open(session)
    expect(door.tools).not.toEqual([])
    await runtime.setToolState('shop.look', 'paused', { by: 'ann' })
    expect(kind.names(door.tools)).toEqual(['shop__note', 'shop__refund'])
    const { messages } = await door.results(kind.answer([look('a')]))
    expect(kind.results(messages)[0]?.text).toContain('POLICY.DENY_TOOL (paused)')
  },
)
