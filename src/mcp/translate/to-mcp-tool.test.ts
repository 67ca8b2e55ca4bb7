import { expect, test } from 'vitest'
import type { PresentedTool } from '../../contract/registry.ts'
import { toMcpTool } from './to-mcp-tool.ts'

const tool: PresentedTool = {
  tool: 'demo.echo',
  name: 'demo.echo',
  title: 'Echo',
  description: 'Says it again.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  presentation: 'canonical',
}

test('shows only what is set (DEF-6, REG-5)', () => {
  expect(toMcpTool(tool, 'demo__echo')).toEqual({
    name: 'demo__echo',
    title: 'Echo',
    description: 'Says it again.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  })
  expect(toMcpTool({ ...tool, annotations: { destructiveHint: false } }, 'x').annotations).toEqual({
    destructiveHint: false,
  })
})

test('shows an output schema only where its root is an object, as MCP asks (MCP-2)', () => {
  expect(toMcpTool({ ...tool, outputSchema: { type: 'object' } }, 'x').outputSchema).toEqual({
    type: 'object',
  })
  expect(toMcpTool({ ...tool, outputSchema: { type: 'array' } }, 'x')).not.toHaveProperty('outputSchema')
  expect(toMcpTool({ ...tool, inputSchema: {} }, 'x').inputSchema).toEqual({ type: 'object' })
})

test('says nullable in the words that clients check by, at every depth (SCHEMA-1)', () => {
  const inputSchema = {
    type: 'object',
    properties: {
      list: { type: 'array', items: { type: ['integer', 'string'], nullable: true } },
      color: { type: 'string', enum: ['red'], nullable: true },
    },
    additionalProperties: { type: 'boolean', nullable: true },
  } as const
  expect(toMcpTool({ ...tool, inputSchema }, 'x').inputSchema).toEqual({
    type: 'object',
    properties: {
      list: { type: 'array', items: { type: ['integer', 'string', 'null'] } },
      color: { type: ['string', 'null'], enum: ['red', null] },
    },
    additionalProperties: { type: ['boolean', 'null'] },
  })
})
