import type { SchemaKind } from '../../contract/base/schema.ts'
import { nearestNames } from '../../kit/text/nearest-names.ts'
import { listNames, quote } from '../base/describe.ts'
import { fullKeywords, olderKeywords, plainKeywords, subsetKeywords } from '../base/keywords.ts'
import { report, type Run } from '../base/run.ts'

const advice: ReadonlyMap<string, string> = new Map([
  ['$ref', 'write the schema out in its place'],
  ['$defs', 'write the schemas out where they are used'],
  ['definitions', 'write the schemas out where they are used'],
  ['anyOf', 'use an array of types, "enum" or "nullable", or split the tool'],
  ['oneOf', 'use an array of types, "enum" or "nullable", or split the tool'],
  ['allOf', 'write its parts into one schema'],
  ['patternProperties', 'use "additionalProperties" with a schema'],
  ['prefixItems', 'use an object with named fields'],
])

/** What draft 2020-12 has in the place of older keywords. */
const today: ReadonlyMap<string, string> = new Map([
  ['definitions', '"$defs"'],
  ['additionalItems', '"items" after "prefixItems"'],
  ['dependencies', '"dependentRequired" or "dependentSchemas"'],
  ['$recursiveRef', '"$ref"'],
  ['$dynamicRef', '"$ref"'],
])

/** Reports a keyword that may not stand here: one of JSON Schema's others, or a mistyped one. */
export function inspectKeywordName(keyword: string, { kind, run }: { kind: SchemaKind; run: Run }): void {
  const newer = kind === 'own' ? today.get(keyword) : undefined
  if (newer !== undefined)
    return report(run, 'unsupported_schema', {
      token: keyword,
      message: () => `${quote(keyword)} is not a keyword of draft 2020-12; write ${newer}.`,
    })
  if (plainKeywords.has(keyword) || keyword === 'id')
    return report(run, 'unsupported_schema', {
      token: keyword,
      message: () => `${quote(keyword)} is not part of the supported subset; remove it.`,
    })
  if (fullKeywords.has(keyword) || olderKeywords.has(keyword))
    return report(run, 'unsupported_schema', {
      token: keyword,
      message: () =>
        `${quote(keyword)} is not part of the supported subset; ${advice.get(keyword) ?? 'do without it'}.`,
    })
  report(run, 'unknown_field', {
    token: keyword,
    message: () => {
      const near = nearestNames(keyword, [
        ...subsetKeywords.keys(),
        ...(kind === 'own' ? fullKeywords.keys() : []),
      ])
      const hint = near.length > 0 ? `did you mean ${listNames(near.map(quote), 'or')}?` : 'remove it.'
      return `There is no keyword ${quote(keyword)}; ${hint}`
    },
  })
}
