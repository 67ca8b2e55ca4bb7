import type { Json, JsonObject } from '../../contract/base/json.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import type { Fact, FactChange, Store } from '../../contract/store.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { followFacts } from '../../kit/follow-facts.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { definitionSchema } from './definition-schema.ts'
import type { Entry } from './to-entry.ts'
import { toStateFact, type StateFact } from './tool-states.ts'

/** Stands for all tenants where a tenant's id is wanted. */
export const allTenants = ''

/** What was said of tools, by tenant (or `allTenants`) and name. */
export type StateBook = ReadonlyMap<string, ReadonlyMap<string, StateFact>>

/** A definition that the store knows. */
export interface Pin {
  readonly version: string
  readonly digest: string
  readonly source: string
  /** As the registered tool has it. */
  readonly identity: string
  /** Where the tool stands until its state is set; absent: enabled. */
  readonly state?: 'registered'
  /** The whole of it, for tools from outside of the program. Read when it is asked for; that there is one, `in` tells. */
  readonly definition?: JsonObject
  /** It was taken away where it comes from, and comes back as it was or not at all. */
  readonly gone?: true
}

/** Pins, and the definitions that wait for approval, by tenant (or `allTenants`) and name. */
export interface PinBook {
  find(scope: string, name: string): Pin | undefined
  held(scope: string, name: string): Pin | undefined
  /** The schemas of a tool of the program as it was when it was pinned last. */
  schemasOf(scope: string, name: string): Schemas | undefined
  /** Names that wait for approval, with their scope. */
  listPending(): readonly { scope: string; name: string; pin: Pin }[]
  names(scope: string): readonly string[]
  /** The definitions that this source had last: those that wait before those that were approved, none that is gone. */
  lastOf(source: string): readonly JsonObject[]
  /** Whether it had any. */
  knowsOf(source: string): boolean
}

type Schemas = Pick<ToolDefinition, 'inputSchema' | 'outputSchema'>

/** Everything that was said of tools. */
export function readStates(store: Store): StateBook {
  const book = new Map<string, Map<string, StateFact>>()
  for (const { tenant, id, value } of store.facts('tool')) {
    let own = book.get(tenant)
    if (own === undefined) book.set(tenant, (own = new Map()))
    own.set(id, toStateFact(value))
  }
  return book
}

/** Canonical names have no colon, so that no tool's pin is another one's waiting definition, or its schemas. */
const heldPrefix = 'held:'
const schemasPrefix = 'schemas:'

/** The pins as the store has them. The book that it returns follows them: each call costs as much as any process changed since the last. */
export function createPinReader(store: Store): () => PinBook {
  const book = new Map<string, Map<string, Pin>>()
  const schemas = new Map<string, Fact>()
  /** Made anew when it is asked for after a change. */
  let bySource: ReadonlyMap<string, ReadonlyMap<string, Pin>> | undefined
  const follow = followFacts(store, 'pin', {
    clear() {
      book.clear()
      schemas.clear()
      bySource = undefined
    },
    put(fact) {
      const { tenant, id } = fact
      if (id.startsWith(schemasPrefix)) return void schemas.set(schemasKey(tenant, id), fact)
      let own = book.get(tenant)
      if (own === undefined) book.set(tenant, (own = new Map()))
      own.set(id, toPin(fact))
      bySource = undefined
    },
    remove({ tenant, id }) {
      schemas.delete(schemasKey(tenant, id))
      book.get(tenant)?.delete(id)
      bySource = undefined
    },
  })
  const pins = toBook(book, {
    pinsOf: (source) => [...((bySource ??= sortBySource(book)).get(source)?.values() ?? [])],
    schemasOf: (scope, name) => toSchemas(schemas.get(schemasKey(scope, schemasPrefix + name))?.value),
  })
  return () => {
    follow()
    return pins
  }
}

const schemasKey = (tenant: string, id: string): string => `${tenant} ${id}`

function toBook(
  book: ReadonlyMap<string, ReadonlyMap<string, Pin>>,
  { pinsOf, schemasOf }: Pick<PinBook, 'schemasOf'> & { pinsOf: (source: string) => readonly Pin[] },
): PinBook {
  const isHeld = (id: string): boolean => id.startsWith(heldPrefix)
  return {
    find: (scope, name) => book.get(scope)?.get(name),
    held: (scope, name) => book.get(scope)?.get(heldPrefix + name),
    schemasOf,
    names: (scope) => [...(book.get(scope)?.keys() ?? [])].filter((id) => !isHeld(id)),
    lastOf: (source) =>
      pinsOf(source)
        .map(({ definition }) => definition)
        .filter((definition) => definition !== undefined),
    knowsOf: (source) => pinsOf(source).some((pin) => 'definition' in pin),
    listPending: () =>
      [...book]
        .flatMap(([scope, pins]) =>
          [...pins]
            .filter(([id]) => isHeld(id))
            .map(([id, pin]) => ({ scope, name: id.slice(heldPrefix.length), pin })),
        )
        .toSorted((one, other) => compareText(one.scope, other.scope) || compareText(one.name, other.name)),
  }
}

function compareText(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** The pins of the last definitions by source and name. */
function sortBySource(
  book: ReadonlyMap<string, ReadonlyMap<string, Pin>>,
): ReadonlyMap<string, ReadonlyMap<string, Pin>> {
  const sorted = new Map<string, Map<string, Pin>>()
  for (const own of book.values())
    for (const [id, pin] of own) {
      if (id.startsWith(heldPrefix) || pin.gone === true) continue
      const last = sorted.get(pin.source) ?? new Map<string, Pin>()
      sorted.set(pin.source, last.set(id, own.get(heldPrefix + id) ?? pin))
    }
  return sorted
}

/** A pin that cannot be read matches no definition. */
function toPin(fact: Fact): Pin {
  const { value } = fact
  if (isPlainObject(value)) {
    const { version, digest, source, identity, state, definition, gone } = value
    if (typeof version === 'string' && typeof digest === 'string' && typeof source === 'string') {
      const pin: Pin = {
        version,
        digest,
        source,
        // A fact without an identity counts for a tool that is not trusted yet.
        identity: typeof identity === 'string' ? identity : '',
        ...(state === 'registered' && { state }),
        ...(gone === true && { gone }),
      }
      return isPlainObject(definition) ? new WholePin(pin, fact) : pin
    }
  }
  return { version: '', digest: '', source: '', identity: '', definition: { name: null } }
}

/**
 * The pin of a tool from outside. Definitions are most of what is kept, and are left where they are until they are asked for: a getter of
 * the class, as thousands with a getter of their own would take four times the memory.
 */
class WholePin implements Pin {
  readonly version: string
  readonly digest: string
  readonly source: string
  readonly identity: string
  readonly state?: 'registered'
  readonly gone?: true
  readonly #fact: Fact

  constructor({ version, digest, source, identity, state, gone }: Pin, fact: Fact) {
    this.version = version
    this.digest = digest
    this.source = source
    this.identity = identity
    if (state !== undefined) this.state = state
    if (gone !== undefined) this.gone = gone
    this.#fact = fact
  }

  get definition(): JsonObject {
    const { value } = this.#fact
    const definition = isPlainObject(value) ? value['definition'] : undefined
    // One that is gone by now matches nothing.
    return isJsonObject(definition) ? definition : { name: null }
  }
}

/** Keeps a definition as the one that may be used. */
export function keepPin(scope: string, name: string, pin: Pin): FactChange {
  return { tenant: scope, kind: 'pin', id: name, value: toValue(pin) }
}

/** Keeps the schemas of a tool of the program. */
export function keepSchemas(scope: string, { name, inputSchema, outputSchema }: ToolDefinition): FactChange {
  const value = toJson({ inputSchema, outputSchema })
  return { tenant: scope, kind: 'pin', id: schemasPrefix + name, value }
}

function toSchemas(value: Json | undefined): Schemas | undefined {
  // They were schemas when they were kept, and are compared only.
  return isPlainObject(value) && isPlainObject(value['inputSchema'])
    ? (value as unknown as Schemas)
    : undefined
}

/** Keeps that a tool from outside was taken away; nothing if none of that name is kept. */
export function keepGone(scope: string, name: string, pins: PinBook): FactChange[] {
  const pin = pins.find(scope, name)
  return pin === undefined || !('definition' in pin)
    ? []
    : [keepPin(scope, name, { ...pin, definition: pin.definition, gone: true })]
}

/** Keeps a definition as one that waits; with no pin, forgets the one that did. */
export function keepPending(scope: string, name: string, pin: Pin | undefined): FactChange {
  return {
    tenant: scope,
    kind: 'pin',
    id: heldPrefix + name,
    value: pin && toValue(pin),
  }
}

function toValue(pin: Pin): Json {
  return toJson({ ...pin, definition: pin.definition })
}

/** Keeps what was said of a tool. */
export function keepState(scope: string, name: string, fact: StateFact): FactChange {
  return { tenant: scope, kind: 'tool', id: name, value: toJson(fact) }
}

/** The pin of a tool; with its whole definition where it comes from outside. */
export function pinOf(entry: Entry): Pin {
  const { definition, digest, source, identity, initial, outside } = entry
  return {
    version: definition.version,
    digest,
    source,
    identity,
    ...(initial === 'registered' && { state: initial }),
    ...(outside && { definition: wholeOf(definition) }),
  }
}

/** Every field that a definition can have, so that one that comes later is a change. */
function wholeOf(definition: ToolDefinition): JsonObject {
  const given: { readonly [field: string]: unknown } = { ...definition }
  const fields = Object.keys(definitionSchema.properties ?? {}).map((field) => [field, given[field] ?? null])
  const whole = toJson(Object.fromEntries(fields))
  return isJsonObject(whole) ? whole : {}
}

/** A kept definition. What no field had is null there. */
export function toDefinition(whole: JsonObject): ToolDefinition {
  const { outputSchema, keyFrom, ...fields } = whole
  // It was a definition when it was kept, and the store is ours; at registration it is checked again.
  return {
    ...fields,
    outputSchema: outputSchema ?? undefined,
    keyFrom: keyFrom ?? undefined,
  } as unknown as ToolDefinition
}

/**
 * The fields of a definition that are not what was pinned, of all or of these. A field that only one version of Handrail knows is none: it
 * was not there to be changed by anybody.
 */
export function changedFields(
  { definition: was = {} }: Pin,
  definition: ToolDefinition,
  fields?: readonly string[],
): string[] {
  const is = wholeOf(definition)
  const isChanged = (field: string): boolean => {
    const before = partOf(was, field)
    return before !== undefined && canonicalJson(before) !== canonicalJson(partOf(is, field) ?? null)
  }
  return (fields ?? Object.keys(is)).filter(isChanged).toSorted()
}

/** A field, or what lies deeper in one: `metadata.mcp.seen`. */
function partOf(definition: JsonObject, field: string): Json | undefined {
  let part: Json | undefined = definition
  for (const name of field.split('.')) part = isPlainObject(part) ? part[name] : undefined
  return part
}

function toJson(value: object): Json {
  return parseJson(JSON.stringify(value))
}
