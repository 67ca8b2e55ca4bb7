import { defineTool, type ToolSource } from 'handrail'
import { anthropic } from 'handrail/anthropic'
import { bedrock } from 'handrail/bedrock'
import { google } from 'handrail/google'
import { openaiChat, openaiResponses } from 'handrail/openai'
import { expect, test } from 'vitest'
import { openRuntime } from '../support/project.ts'

interface Given {
  name?: string
  description?: string
  schema: object
}

/** A session with tools of a server elsewhere, and the inputs that reached them. */
async function openWith(...given: Given[]) {
  const got: unknown[] = []
  const tools = given.map(({ name = 'mcp.far.tool', description = 'Does it.', schema }) => {
    const tool = defineTool({
      name,
      description,
      permission: 'readonly',
      input: { type: 'object' },
      run: (input) => {
        got.push(input)
        return 'done'
      },
    })
    const definition = { ...tool.definition, inputSchema: schema }
    return { definition, run: tool.run.bind(tool) }
  })
  const source: ToolSource = { id: 'mcp.far', kind: 'mcp', list: () => tools }
  const runtime = await openRuntime({ tools: [source], store: 'memory' })
  return { got, session: runtime.session() }
}

const message = (input: object, name = 'mcp__far__tool') => ({
  role: 'assistant' as const,
  content: [{ type: 'tool_use', id: 'a', name, input }],
})

const text = { type: 'string' } as const

test('choices at the top become properties, and the description says the rest (SCHEMA-4)', async () => {
  const schema = {
    type: 'object',
    oneOf: [
      { properties: { id: { type: 'integer' } }, required: ['id'] },
      { properties: { name: text }, required: ['name'] },
    ],
  }
  const { session, got } = await openWith({ schema })
  const door = anthropic(session)
  const [tool] = door.tools
  expect(tool?.input_schema).toMatchObject({
    type: 'object',
    properties: { id: { type: 'integer' }, name: text },
    description: `Must also fit this JSON Schema: ${JSON.stringify({ oneOf: schema.oneOf })}`,
  })
  expect(Object.keys(tool?.input_schema ?? {})).not.toContain('oneOf')
  const both = await door.results(message({ id: 1, name: 'x' }))
  expect(both.messages[0]?.content[0]?.is_error).toBe(true)
  await door.results(message({ id: 1 }))
  expect(got).toEqual([{ id: 1 }])
  for (const definitions of [
    openaiChat(session).tools,
    openaiResponses(session).tools,
    bedrock(session).tools,
  ])
    expect(JSON.stringify(definitions)).not.toMatch(/"(parameters|json)":\{[^{}]*"oneOf"/)
})

test('names of properties that a provider refuses get others, and come back as they were (SCHEMA-4)', async () => {
  const schema = {
    type: 'object',
    properties: {
      $top: { type: 'integer' },
      filter: { type: 'object', properties: { '@odata.type': text }, required: ['@odata.type'] },
    },
    required: ['$top'],
  }
  const { session, got } = await openWith({ schema })
  const door = anthropic(session)
  const [tool] = door.tools
  const [top = ''] = Object.keys(Object(tool?.input_schema['properties']))
  expect(top).toMatch(/^_top_x[0-9a-f]{10}$/)
  expect(tool?.input_schema['required']).toEqual([top])
  expect(JSON.stringify(tool)).toContain(String.raw`Its own name is \"$top\".`)
  const inner = /_odata\.type_x[0-9a-f]{10}/.exec(JSON.stringify(tool))?.[0] ?? ''
  await door.results(message({ [top]: 5, filter: { [inner]: 'x' } }))
  expect(got).toEqual([{ $top: 5, filter: { '@odata.type': 'x' } }])
})

test('strict tools of OpenAI: optional properties take null, which comes back as left out (SCHEMA-4)', async () => {
  const schema = {
    type: 'object',
    properties: {
      city: text,
      unit: { enum: ['C', 'F'], type: 'string', default: 'C' },
      near: {
        type: 'object',
        properties: { lat: { type: 'number' }, note: text },
        required: ['lat'],
        additionalProperties: false,
      },
      stay: { type: ['string', 'null'] },
      list: {
        type: 'array',
        items: { anyOf: [{ type: 'object', properties: { a: text }, additionalProperties: false }, text] },
      },
    },
    required: ['city'],
    additionalProperties: false,
  }
  const { session, got } = await openWith({ schema })
  const door = openaiResponses(session, { strict: true })
  const [tool] = door.tools
  expect(tool).toMatchObject({
    strict: true,
    parameters: {
      required: ['city', 'unit', 'near', 'stay', 'list'],
      additionalProperties: false,
      properties: {
        city: text,
        unit: { type: ['string', 'null'], enum: ['C', 'F', null] },
        near: {
          type: ['object', 'null'],
          required: ['lat', 'note'],
          properties: { note: { type: ['string', 'null'] } },
        },
        stay: { type: ['string', 'null'] },
      },
    },
  })
  expect(door.check({ tools: door.tools })).toEqual([])
  const input = {
    city: 'Paris',
    unit: null,
    near: { lat: 1, note: null },
    stay: null,
    list: [{ a: null }, 'b'],
  }
  await door.results({
    output: [
      { type: 'function_call', call_id: 'a', name: 'mcp__far__tool', arguments: JSON.stringify(input) },
    ],
  })
  expect(got).toEqual([{ city: 'Paris', unit: 'C', near: { lat: 1 }, stay: null, list: [{}, 'b'] }])
})

test('what strict tools cannot say fails before any request, with tool, pointer, provider and advice (SCHEMA-4, PROV-2)', async () => {
  const { session } = await openWith(
    { schema: { type: 'object', properties: { labels: { type: 'object', additionalProperties: text } } } },
    { name: 'mcp.far.fine', schema: { type: 'object', properties: { a: text } } },
  )
  expect(() => openaiChat(session, { strict: true })).toThrow(
    expect.objectContaining({
      name: 'SetupError',
      code: 'unfit_tool',
      message: expect.stringMatching(/^OpenAI does not take a tool of this session\. .*onUnfit: 'leave-out'/),
      issues: [
        {
          pointer: '/properties/labels/additionalProperties',
          code: 'unfit_schema',
          message: expect.stringMatching(/^"mcp\.far\.tool": .* Name the properties/),
        },
      ],
    }),
  )
  const without = openaiChat(session, { strict: true, onUnfit: 'leave-out' })
  expect(without.tools.map((tool) => tool.function.name)).toEqual(['mcp__far__fine'])
  expect(without.leftOut).toMatchObject([
    { tool: 'mcp.far.tool', issues: [{ pointer: '/properties/labels/additionalProperties' }] },
  ])
  const mixed = openaiChat(session, { strict: 'if-possible' })
  expect(mixed.tools.map((tool) => tool.function.strict)).toEqual([true, undefined])
})

test('what strict tools of Anthropic add up to is counted (PROV-2)', async () => {
  const properties = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`p${index}`, text]))
  const { session } = await openWith({ schema: { type: 'object', properties, additionalProperties: false } })
  expect(() => anthropic(session, { strict: true })).toThrow(
    /25 optional properties in strict tools; 24 are taken/,
  )
})

test('more tools than a provider takes in a request fail before it (PROV-2)', async () => {
  const given = Array.from({ length: 129 }, (_, index) => ({
    name: `mcp.far.tool_${index}`,
    schema: { type: 'object' },
  }))
  const { session } = await openWith(...given)
  expect(() => openaiChat(session)).toThrow(/has 129 tools; 128 are taken/)
  expect(openaiChat(session, { onUnfit: 'leave-out' }).tools).toHaveLength(128)
  expect(anthropic(session).tools).toHaveLength(129)
})

test('what is too long to be said in a description fails before any request (PROV-2)', async () => {
  const oneOf = Array.from({ length: 200 }, (_, index) => ({
    properties: { [`a_rather_long_name_${index}`]: text },
    required: [`a_rather_long_name_${index}`],
  }))
  const { session } = await openWith({ schema: { type: 'object', oneOf } })
  expect(() => anthropic(session)).toThrow(/\/oneOf: "mcp\.far\.tool": "oneOf" is not taken here/)
})

test('a long description goes on in the schema for OpenAI, and no word is lost (PROV-2)', async () => {
  const description = Array.from({ length: 300 }, (_, index) => `Sentence ${index}.`).join(' ')
  const { session } = await openWith({ description, schema: { type: 'object' } })
  const [tool] = openaiChat(session).tools
  const first = tool?.function.description ?? ''
  expect(first.length).toBeLessThanOrEqual(1_024)
  expect(`${first} ${String(tool?.function.parameters['description'])}`).toBe(description)
})

test('arrays say what is in them, where a provider asks for that (SCHEMA-4)', async () => {
  const schema = {
    type: 'object',
    properties: { pair: { type: 'array', prefixItems: [text, { type: 'number' }] }, any: { type: 'array' } },
  }
  const { session } = await openWith({ schema })
  expect(openaiChat(session).tools[0]?.function.parameters).toMatchObject({
    properties: { pair: { items: { anyOf: [text, { type: 'number' }] } }, any: { items: {} } },
  })
})

test('Gemini gets JSON Schema, or the part of OpenAPI that older servers take (SCHEMA-4)', async () => {
  const node = { type: 'object', properties: { name: text, child: { $ref: '#/$defs/node' } } }
  const schema = {
    type: 'object',
    properties: {
      mode: { enum: ['a', 'b'] },
      size: { type: ['integer', 'null'], exclusiveMinimum: 0 },
      free: { type: 'object', additionalProperties: text },
      empty: { type: 'object', properties: {} },
      tree: { $ref: '#/$defs/node' },
    },
    $defs: { node },
  }
  const { session } = await openWith({ schema })
  const json = google(session)
  expect(json.tools[0]?.functionDeclarations[0]?.parametersJsonSchema).toMatchObject({
    properties: { size: { type: ['integer', 'null'] } },
  })
  const older = google(session, { schemaField: 'parameters' })
  expect(older.check({ tools: older.tools })).toEqual([])
  expect(older.tools[0]?.functionDeclarations[0]?.parameters).toMatchObject({
    properties: {
      mode: { type: 'string', enum: ['a', 'b'] },
      size: { type: 'integer', nullable: true, minimum: 1 },
      empty: { type: 'object' },
      tree: { properties: { name: text, child: { type: 'object' } } },
    },
  })
})

test('a request that other programs made is checked too: ids, order, pairs, counts, definitions (PROV-2)', async () => {
  const { session } = await openWith({ schema: { type: 'object' } })
  const claude = anthropic(session)
  expect(claude.check({ tools: claude.tools })).toEqual([])
  const use = (id: string) => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id, name: 't', input: {} }],
  })
  const result = { type: 'tool_result', tool_use_id: 'a' }
  const chat = (id: string, content: unknown = '') => [
    { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name: 't', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: id, content },
  ]
  const function_call = { type: 'function_call', call_id: 'c'.repeat(65) }
  const strict = {
    type: 'object',
    properties: { a: { type: 'array', items: { type: 'strin' } } },
    additionalProperties: false,
  }
  const found = [
    claude.check({ tools: [{ name: 'a.b', input_schema: { type: 'object', anyOf: [{ type: 'object' }] } }] }),
    claude.check({
      messages: [use('a'), { role: 'user', content: [{ type: 'text', text: 'Here:' }, result] }],
    }),
    claude.check({ messages: [use('a'), { role: 'user', content: 'Go on.' }] }),
    claude.check({ messages: [use('a'), use('b'), { role: 'user', content: [result] }, use('c')] }),
    openaiResponses(session).check({
      input: [function_call, { ...function_call, type: 'function_call_output' }],
    }),
    openaiResponses(session).check({ input: [{ type: 'function_call_output', call_id: 'a' }] }),
    openaiChat(session).check({ model: 'mistral-large', messages: chat('turn1_0') }),
    openaiChat(session).check({
      messages: [...chat('a', [{ type: 'input_audio' }]), ...chat('b').slice(0, 1), { role: 'user' }],
    }),
    openaiChat(session).check({ tools: [{ function: { name: 't', parameters: strict, strict: true } }] }),
    google(session).check({ tools: [{ functionDeclarations: [{ name: '1st' }] }] }),
    bedrock(session).check({
      toolConfig: { tools: [{ toolSpec: { name: 'a b', inputSchema: { json: { type: 'object' } } } }] },
    }),
  ]
  expect(found.map((issues) => issues.map(({ pointer }) => pointer))).toEqual([
    ['/tools/0/name', '/tools/0/input_schema/anyOf'],
    ['/messages/1/content/1'],
    ['/messages/0/content/0/id'],
    ['/messages/1/content/0/id'],
    ['/input/0/call_id', '/input/1/call_id'],
    ['/input/0/call_id'],
    ['/messages/0/tool_calls/0/id', '/messages/1/tool_call_id'],
    ['/messages/1/content/0', '/messages/2/tool_calls/0/id'],
    ['/tools/0/function/parameters/properties/a/items/type', '/tools/0/function/parameters/required'],
    ['/tools/0/functionDeclarations/0/name'],
    ['/toolConfig/tools/0/toolSpec/name'],
  ])
})

test('faulty options of a door are refused by name', async () => {
  const { session } = await openWith({ schema: { type: 'object' } })
  expect(() => anthropic(session, { cacheControll: true } as never)).toThrow(/did you mean "cacheControl"/)
  expect(() => openaiChat(session, { strict: 'yes' as never })).toThrow(/true or false or "if-possible"/)
  expect(() => google(session, { schemaField: 'schema' as never })).toThrow(/parametersJsonSchema/)
})

test('the last tool carries the mark of the cache, if that is wanted (REG-9)', async () => {
  const { session } = await openWith(
    { schema: { type: 'object' } },
    { name: 'mcp.far.other', schema: { type: 'object' } },
  )
  const [first, last] = anthropic(session, { cacheControl: true }).tools
  expect([first?.cache_control, last?.cache_control]).toEqual([undefined, { type: 'ephemeral' }])
})

test('each provider is shown what it takes, whoever was shown the tools before, and who changes a list changes no other (SCHEMA-4)', async () => {
  type Opened = Awaited<ReturnType<typeof openWith>>['session']
  const properties = { n: { type: 'integer', minimum: 1 }, one: { oneOf: [text, { type: 'null' }] } }
  const open = () => openWith({ schema: { type: 'object', properties, required: ['n'] } })
  const doors = [
    (session: Opened) => openaiChat(session).tools,
    (session: Opened) => openaiChat(session, { strict: true }).tools,
    (session: Opened) => google(session).tools,
    (session: Opened) => anthropic(session).tools,
  ]
  const alone = await Promise.all(doors.map(async (show) => JSON.stringify(show((await open()).session))))
  const { session } = await open()
  for (const tool of anthropic(session).tools) tool.input_schema['properties'] = {}
  for (const { function: made } of openaiChat(session).tools) Object.assign(made, { parameters: {} })
  expect(doors.map((show) => JSON.stringify(show(session)))).toEqual(alone)
  expect(doors.toReversed().map((show) => JSON.stringify(show(session)))).toEqual(alone.toReversed())
})
