import type { MemoryFact } from '../../contract/services/memory.ts'

/** The longest fact, in characters. */
export const longestFact = 4000

/** A fact as a person reads it: what it is about and where it comes from, then its text. */
export function toFile({ content, scope, project, tags, source }: MemoryFact): string {
  const { at, ...from } = source
  const fields: [string, unknown][] = [
    ['scope', scope],
    ...(project === undefined ? [] : ([['project', project]] as [string, unknown][])),
    ['tags', tags],
    ...Object.entries(from),
    ...(at === undefined ? [] : ([['at', new Date(at).toISOString()]] as [string, unknown][])),
  ]
  // JSON is YAML: no value can end the front matter.
  return `---\n${fields.map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`).join('')}---\n${content}\n`
}
