import { expect, test } from 'vitest'
import { toPassthroughTool } from './to-passthrough-tool.ts'
import { importTool } from '../upstream/base/import-tool.ts'

const hidden = '\u{e0041}\u200b'
const schema = (extra: string) => ({
  type: 'object',
  description: `All${extra}`,
  properties: {
    description: { type: 'string', description: `One${extra}`, default: { title: `kept${hidden}` } },
    default: { description: `Three${extra}` },
    many: { anyOf: [{ title: `Two${extra}` }] },
  },
})
const raw = (extra: string) => ({
  name: 'act',
  title: `Act${extra}`,
  description: `Acts${extra}`,
  inputSchema: schema(extra),
  outputSchema: schema(extra),
  annotations: { title: `Act${extra}` },
})

test('no words of a definition hold letters that nobody sees, at any depth, and its data stays as it is (CVE-2025-54136)', () => {
  expect(toPassthroughTool(raw(hidden))).toEqual(raw(''))
  const tool = importTool('it', raw(hidden))
  expect(tool).toMatchObject({ fields: { inputSchema: schema(''), outputSchema: schema('') } })
})
