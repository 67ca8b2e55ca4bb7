import { isKeywords } from '../base/is-keywords.ts'
import { reportInvalid, type Inspection } from '../base/inspection.ts'
import { tokensOf } from '../base/references.ts'

/** Reports references that come back to themselves without a field or an item between: no value could ever be checked. */
export function inspectCircles({ references, resolve, run }: Inspection): void {
  const done = new Set<unknown>()
  for (const reference of new Set(references)) {
    if (!comesBack(resolve(reference), { above: new Set(), done, resolve })) continue
    run.path.push(...tokensOf(reference))
    reportInvalid(run, 'It refers to itself without a field or an item between, so that no value could fit.')
    run.path.length = 0
  }
}

interface Walk {
  /** Schemas that speak about the same value, from the first one on. */
  readonly above: Set<unknown>
  /** Schemas that were found to end. */
  readonly done: Set<unknown>
  readonly resolve: Inspection['resolve']
}

function comesBack(schema: unknown, walk: Walk): boolean {
  if (!isKeywords(schema) || walk.done.has(schema)) return false
  if (walk.above.has(schema)) return true
  walk.above.add(schema)
  const { $ref, allOf, anyOf, oneOf, not, if: condition, then: yes, else: no } = schema
  const target = typeof $ref === 'string' ? walk.resolve($ref) : undefined
  const same = [target, not, condition, yes, no, ...[allOf, anyOf, oneOf].flat()]
  const found = same.some((each) => comesBack(each, walk))
  walk.above.delete(schema)
  walk.done.add(schema)
  return found
}
