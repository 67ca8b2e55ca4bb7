import type { MemoryFact, MemorySource, NewMemory } from '../../contract/services/memory.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { fileDigest } from '../../kit/json/digest.ts'

/** A fact of a project or its tenant. What says the same has the same id, which is a name that a person can read. */
export function toFact(
  { content, scope, tags }: NewMemory,
  { source, project }: { source: MemorySource; project: string },
): MemoryFact {
  const text = content.trim()
  const place = scope === 'project' ? { project } : {}
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const name = words.slice(0, 6).join('-').slice(0, 40)
  const [, hex = ''] = fileDigest(canonicalJson({ text, scope, ...place })).split(':')
  return {
    id: `${name === '' ? 'fact' : name}-${hex.slice(0, 10)}`,
    content: text,
    scope,
    ...place,
    tags: [...new Set(tags)],
    source,
  }
}
