import { isJSONRPCResultResponse, parseJSONRPCMessage, specTypeSchemas } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rounds } from '../../../test/support/rounds.ts'
import { isPlainAnswer, isPlainCall, isPlainResult } from './plain-messages.ts'

const names = fc.constantFrom(
  ...'name arguments _meta task requestState inputResponses __proto__ text type content isError'.split(' '),
  ...'structuredContent progressToken jsonrpc id method params x resultType'.split(' '),
  'io.modelcontextprotocol/related-task',
  'io.modelcontextprotocol/clientInfo',
)
const anything = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  fc.constantFrom('text', 'tools/call', 1.5, -1, 2 ** 60),
)
const loose = fc.dictionary(names, anything, { maxKeys: 3, noNullPrototype: true })
/** Mostly what it should be. */
const mostly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: right }, anything, loose)
/** A record of these fields, of which some may be missing, and now and then one of another name. */
const record = (fields: Record<string, fc.Arbitrary<unknown>>, required: string[]): fc.Arbitrary<object> =>
  fc
    .tuple(
      fc.record(fields, { requiredKeys: required, noNullPrototype: true }),
      fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, loose),
    )
    .map(([known, other]) => ({ ...other, ...known }))
/** As it comes from a line: `__proto__` is a field like others then. */
const parsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const id = mostly(fc.oneof(fc.string(), fc.integer(), fc.constantFrom(0, -1, 2 ** 53, 0.5)))
const meta = mostly(record({ progressToken: id }, []))
const call = record(
  {
    jsonrpc: mostly(fc.constant('2.0')),
    id,
    method: mostly(fc.constant('tools/call')),
    params: mostly(record({ name: mostly(fc.string()), arguments: mostly(loose), _meta: meta }, ['name'])),
  },
  ['jsonrpc', 'id', 'method', 'params'],
)
const result = record(
  {
    content: mostly(
      fc.array(
        mostly(record({ type: mostly(fc.constant('text')), text: mostly(fc.string()) }, ['type', 'text'])),
        { maxLength: 3 },
      ),
    ),
    structuredContent: mostly(loose),
    isError: mostly(fc.boolean()),
    _meta: meta,
  },
  ['content'],
)

const answer = record({ jsonrpc: mostly(fc.constant('2.0')), id, result: mostly(fc.oneof(result, loose)) }, [
  'jsonrpc',
  'id',
  'result',
])

const numRuns = rounds({ usual: 500, long: 200_000 })

test('takes a call only where the SDK takes it too, and reads the same in it (MCP-2)', () => {
  let taken = 0
  fc.assert(
    fc.property(call.map(parsed), (message) => {
      if (!isPlainCall(message)) return
      taken++
      expect(parseJSONRPCMessage(message)).toEqual(message)
      const read = specTypeSchemas.CallToolRequest['~standard'].validate(message)
      const { jsonrpc: _, id: __, ...request } = message
      expect(read).toEqual({ value: request })
    }),
    { numRuns },
  )
  expect(taken).toBeGreaterThan(numRuns / 20)
})

test('sends a result as it is only where the SDK would send the same (MCP-2)', () => {
  let taken = 0
  fc.assert(
    fc.property(result.map(parsed), (value) => {
      if (typeof value !== 'object' || value === null || !isPlainResult({ ...value })) return
      taken++
      expect(specTypeSchemas.CallToolResult['~standard'].validate(value)).toEqual({ value })
    }),
    { numRuns },
  )
  expect(taken).toBeGreaterThan(numRuns / 20)
})

test('takes an answer of a server only where the SDK reads the same in it (MCP-2)', () => {
  let taken = 0
  fc.assert(
    fc.property(answer.map(parsed), (message) => {
      if (!isPlainAnswer(message)) return
      taken++
      expect(parseJSONRPCMessage(message)).toEqual(message)
      expect(isJSONRPCResultResponse(message)).toBe(true)
    }),
    { numRuns },
  )
  expect(taken).toBeGreaterThan(numRuns / 20)
})

test('leaves to the SDK what a call may have beside its name and arguments (MCP-2)', () => {
  const params = { name: 'a.b', arguments: {} }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  expect(isPlainCall(message)).toBe(true)
  expect(isPlainCall({ ...message, params: { ...params, _meta: { progressToken: 7, mine: true } } })).toBe(
    true,
  )
  expect(isPlainCall({ ...message, params: { ...params, task: {} } })).toBe(false)
  expect(isPlainCall({ ...message, params: { ...params, requestState: 'x' } })).toBe(false)
  const related = { 'io.modelcontextprotocol/related-task': { taskId: 't' } }
  expect(isPlainCall({ ...message, params: { ...params, _meta: related } })).toBe(false)
  expect(isPlainCall({ ...message, params: { ...params, arguments: JSON.parse('{"__proto__":1}') } })).toBe(
    false,
  )
})
