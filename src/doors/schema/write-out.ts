import { isKeywords, isKnown, type Keywords, type Lowering } from './lowering.ts'

/** A schema with what its reference names written out. */
interface Written {
  readonly schema: Keywords
  /** What was written out. It is open until all below it is lowered. */
  readonly opened: readonly unknown[]
  /** The definition of what contains itself, which cannot be written out. */
  readonly told: Keywords
}

/** Writes out the reference of a schema for a provider that knows none. */
export function writeOut(given: Keywords, work: Lowering): Written {
  const opened: unknown[] = []
  let schema = given
  for (;;) {
    const { $ref, ...rest } = schema
    if (typeof $ref !== 'string' || isKnown('$ref', work)) return { schema, opened, told: {} }
    const target = work.resolve($ref)
    if (!isKeywords(target)) return { schema: rest, opened, told: {} }
    if (work.open.has(target)) {
      const name = $ref.replace(/^#\/(\$defs|definitions)\//, '')
      const { type = 'object' } = target
      return { schema: { ...rest, type }, opened, told: { $ref, $defs: { [name]: target } } }
    }
    work.open.add(target)
    opened.push(target)
    schema = { ...target, ...rest }
  }
}
