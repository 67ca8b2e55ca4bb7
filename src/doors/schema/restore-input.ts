import { isKeywords, madeRequired, typesOf, type Keywords } from './lowering.ts'

/** What a lowering changed of the inputs. */
export interface InputChanges {
  /** The lowered schema, with its marks. */
  readonly schema: Keywords
  /** Names of properties by the names that stand for them. */
  readonly keys: ReadonlyMap<string, string>
}

/** Levels of an input that are looked at. The pipeline takes none that is deeper. */
const maxDepth = 200

/** The input as the schema of the tool means it. JSON text is read first; other text stays, for the pipeline to refuse. */
export function restoreInput(input: unknown, changes: InputChanges): unknown {
  const value = typeof input === 'string' ? readText(input) : input
  return typeof value === 'object' && value !== null
    ? restore(value, changes.schema, { changes, depth: 0 })
    : input
}

interface Place {
  readonly changes: InputChanges
  readonly depth: number
}

function restore(value: unknown, given: unknown, { changes, depth }: Place): unknown {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return value
  const schema = settle(value, given, { root: changes.schema, steps: 0 })
  const below: Place = { changes, depth: depth + 1 }
  if (Array.isArray(value)) {
    const { items, prefixItems } = schema
    const first: unknown[] = Array.isArray(prefixItems) ? prefixItems : []
    return value.map((item: unknown, index) => restore(item, first[index] ?? items, below))
  }
  const nulls = schema[madeRequired]
  const properties = isKeywords(schema['properties']) ? schema['properties'] : {}
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, item]) => !(item === null && nulls?.includes(name) === true))
      .map(([name, item]) => [
        changes.keys.get(name) ?? name,
        restore(
          item,
          Object.hasOwn(properties, name) ? properties[name] : schema['additionalProperties'],
          below,
        ),
      ]),
  )
}

/** The schema that is meant for a value: behind references, and of choices the first that fits its form. */
function settle(value: object, given: unknown, { root, steps }: { root: Keywords; steps: number }): Keywords {
  if (!isKeywords(given) || steps > 20) return {}
  const next = { root, steps: steps + 1 }
  const { $ref, anyOf, oneOf } = given
  if (typeof $ref === 'string') return settle(value, follow($ref, root), next)
  const choices: unknown = anyOf ?? oneOf
  if (!Array.isArray(choices)) return given
  const found: unknown = choices.find((choice) => fits(value, settle(value, choice, next)))
  return found === undefined ? given : settle(value, found, next)
}

/** Whether a value has the type, the properties and the constants that a schema names. */
function fits(value: object, schema: Keywords): boolean {
  const types = typesOf(schema)
  if (Array.isArray(value)) return types.includes('array')
  if (types.length > 0 && !types.includes('object')) return false
  const properties = isKeywords(schema['properties']) ? schema['properties'] : {}
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const isClosed = schema['additionalProperties'] === false
  const given = new Map<unknown, unknown>(Object.entries(value))
  return (
    required.every((name) => given.has(name)) &&
    [...given].every(([name, item]) => {
      if (typeof name !== 'string' || !Object.hasOwn(properties, name)) return !isClosed
      const property = properties[name]
      if (!isKeywords(property)) return true
      if ('const' in property) return property['const'] === item
      const { enum: values } = property
      return !Array.isArray(values) || values.includes(item)
    })
  )
}

function follow(reference: string, root: Keywords): unknown {
  const name = reference.slice('#/$defs/'.length)
  const { $defs } = root
  if (reference === '#') return root
  return isKeywords($defs) && Object.hasOwn($defs, name) ? $defs[name] : undefined
}

function readText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
