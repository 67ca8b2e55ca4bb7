import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { parsePointer } from '../../kit/json/json-pointer.ts'
import { childrenOf, read, type Place } from './places.ts'

/** Keywords with schemas that speak about the same value. A choice counts whole: any of it may be the one that fits. */
const sameValue = ['allOf', 'anyOf', 'oneOf'] as const
const alsoSameValue = ['if', 'then', 'else'] as const
const everyItem = ['items', 'contains', 'additionalItems', 'unevaluatedItems'] as const
const everyOther = ['additionalProperties', 'unevaluatedProperties'] as const

type Keywords = Readonly<Record<string, unknown>>

/** What one schema says about which fields are of some kind, by `x-classification`. */
export interface Classified {
  /** The outermost places in a value that are of these kinds. */
  find(root: Place): Place[]
  /** Whether a pointer leads to, or into, such a place. */
  covers(pointer: readonly string[]): boolean
}

/** Undefined if the schema classifies nothing as one of these. */
export function findClassified(schema: unknown, labels: ReadonlySet<string>): Classified | undefined {
  if (!mentions(schema, labels)) return undefined
  const closure = (schemas: readonly unknown[]) => closeOver(schemas, schema)
  const isOne = (schemas: readonly Keywords[]) =>
    schemas.some((each) => labelsOf(each).some((label) => labels.has(label)))

  const visit = (place: Place, given: readonly unknown[], found: Place[]): void => {
    const schemas = closure(given)
    if (schemas.length === 0) return
    if (isOne(schemas)) {
      if (read(place) !== undefined) found.push(place)
      return
    }
    const inArray = Array.isArray(read(place))
    for (const child of childrenOf(place)) visit(child, schemasBelow(schemas, child.key, inArray), found)
  }
  return {
    find(root) {
      const found: Place[] = []
      visit(root, [schema], found)
      return found
    },
    covers(pointer) {
      let schemas = closure([schema])
      for (const segment of pointer) {
        if (isOne(schemas)) return true
        const below = [true, false].flatMap((inArray) => schemasBelow(schemas, segment, inArray))
        schemas = closure(below)
      }
      return isOne(schemas)
    },
  }
}

function mentions(schema: unknown, labels: ReadonlySet<string>): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  if (isPlainObject(schema) && labelsOf(schema).some((label) => labels.has(label))) return true
  return Object.values(schema).some((part) => mentions(part, labels))
}

function labelsOf(schema: Keywords): string[] {
  return [schema['x-classification']].flat().filter((label) => typeof label === 'string')
}

/** These schemas and all others that speak about the same value. Each once, so that a schema that contains itself has an end. */
function closeOver(schemas: readonly unknown[], root: unknown): Keywords[] {
  const all = new Set<Keywords>()
  const open = [...schemas]
  while (open.length > 0) {
    const schema = open.pop()
    if (!isPlainObject(schema) || all.has(schema)) continue
    all.add(schema)
    for (const keyword of sameValue) open.push(...listOf(schema[keyword]))
    for (const keyword of alsoSameValue) open.push(schema[keyword])
    open.push(...valuesOf(schema['dependentSchemas']))
    if (typeof schema['$ref'] === 'string') open.push(follow(schema['$ref'], root))
  }
  return [...all]
}

function schemasBelow(schemas: readonly Keywords[], key: string, inArray: boolean): unknown[] {
  return schemas.flatMap((schema) => (inArray ? itemSchemas(schema, key) : memberSchemas(schema, key)))
}

function itemSchemas(schema: Keywords, key: string): unknown[] {
  const tuple = [...listOf(schema['prefixItems']), ...listOf(schema['items'])]
  return [tuple[Number(key)], ...everyItem.map((keyword) => schema[keyword])]
}

/** Which pattern a name meets is not looked at: any of them may protect it. */
function memberSchemas(schema: Keywords, key: string): unknown[] {
  const { properties } = schema
  const named = isPlainObject(properties) && Object.hasOwn(properties, key) ? [properties[key]] : undefined
  const byPattern = valuesOf(schema['patternProperties'])
  return [...byPattern, ...(named ?? everyOther.map((keyword) => schema[keyword]))]
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function valuesOf(value: unknown): unknown[] {
  return isPlainObject(value) ? Object.values(value) : []
}

/** References of normalised schemas are pointers from the top. */
function follow(reference: string, root: unknown): unknown {
  if (!reference.startsWith('#')) return undefined
  let target = root
  for (const segment of parsePointer(decode(reference.slice(1)))) {
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, segment)) return undefined
    target = Reflect.get(target, segment)
  }
  return target
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}
