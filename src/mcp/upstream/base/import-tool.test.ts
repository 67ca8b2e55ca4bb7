import { expect, test } from 'vitest'
import { factsKey, importTool } from './import-tool.ts'

function importNamed(raw: object) {
  const tool = importTool('it', { name: 'act', inputSchema: { type: 'object' }, ...raw })
  if ('message' in tool) throw new Error(tool.message)
  return tool
}

test('no field of a server takes the place of what is noted of its tool, so that a change is seen (CVE-2025-54136, DEF-10)', () => {
  const posing = { seen: 'always the same', server: 'another', kept: 1 }
  const tool = importNamed(posing)
  expect(tool.fields.metadata[factsKey]).toEqual({ server: 'it', name: 'act', seen: tool.seen, kept: 1 })
  const changed = importNamed({ ...posing, description: '\u200b' })
  expect(changed.fields.metadata).not.toEqual(tool.fields.metadata)
})
