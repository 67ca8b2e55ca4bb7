import { expect, test } from 'vitest'
import { readParamHeaders, toParamHeaders } from './param-headers.ts'

const property = (more: object) => ({ type: 'object', properties: { a: more } })

test('reads headers of properties, however deep, and of nothing that is a value (MCP-1)', () => {
  const schema = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      'x-mcp-header': { type: 'string' },
      inner: property({ type: 'integer', 'x-mcp-header': 'Deep' }),
      free: { default: { 'x-mcp-header': 1 }, enum: [{ 'x-mcp-header': '' }] },
    },
  }
  expect(readParamHeaders(schema)).toEqual({
    headers: [
      { header: 'Region', path: ['region'] },
      { header: 'Deep', path: ['inner', 'a'] },
    ],
  })
})

test.each([
  [{ type: 'string', 'x-mcp-header': '' }],
  [{ type: 'string', 'x-mcp-header': 'My Region' }],
  [{ type: 'string', 'x-mcp-header': 'Région' }],
  [{ type: 'string', 'x-mcp-header': 'a\r\nb' }],
  [{ type: 'string', 'x-mcp-header': 7 }],
  [{ type: 'number', 'x-mcp-header': 'Score' }],
  [{ type: 'object', 'x-mcp-header': 'Data' }],
  [{ type: ['string'], 'x-mcp-header': 'Data' }],
  [{ type: 'array', items: { type: 'string', 'x-mcp-header': 'Item' } }],
  [{ anyOf: [{ type: 'string', 'x-mcp-header': 'Any' }] }],
  [
    {
      type: 'object',
      properties: { b: { type: 'string', 'x-mcp-header': 'A' }, c: { type: 'string', 'x-mcp-header': 'a' } },
    },
  ],
])('says what is wrong with %j (MCP-1)', (more) => {
  expect(readParamHeaders(property(more))).toEqual({ message: expect.stringContaining('of headers') })
})

test('a header of the schema itself, or of a definition, is none of an argument (MCP-1)', () => {
  for (const schema of [
    { type: 'string', 'x-mcp-header': 'Top' },
    { $defs: { a: { type: 'string', 'x-mcp-header': 'A' } } },
  ])
    expect(readParamHeaders(schema)).toHaveProperty('message')
})

test('a value that could end its header, or change on the way, travels in base64 (MCP-1)', () => {
  const of = (value: string | number | boolean | null) =>
    toParamHeaders([{ header: 'A', path: ['a'] }], { a: value })['Mcp-Param-A']
  const decoded = (value: string | undefined) =>
    Buffer.from(/^=\?base64\?(.*)\?=$/.exec(value ?? '')?.[1] ?? '', 'base64').toString('utf8')
  expect(of('us west 1')).toBe('us west 1')
  expect([of(42), of(false), of('')]).toEqual(['42', 'false', ''])
  for (const value of ['a\r\nX-Evil: 1', ' a', 'a ', '\ta', 'Grüße', '=?base64?YQ==?=', '\u0000'])
    expect(decoded(of(value))).toBe(value)
  expect([of(null), of(1.5), of(2 ** 60)]).toEqual([undefined, undefined, undefined])
  expect(toParamHeaders([{ header: 'A', path: ['toString'] }], {})).toEqual({})
})
