import type { JsonObject } from '../../contract/base/json.ts'
import type { Registered } from '../../contract/registry.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import type { Tool, ToolDefinition, ToolSource } from '../../contract/tool/tool.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { digest } from '../../kit/json/digest.ts'
import { freezeDeeply } from '../../kit/json/freeze-deeply.ts'
import { matchPattern } from '../../kit/match/match-pattern.ts'

/** A registered tool with what only the registry wants to know of it. */
export interface Entry extends Registered {
  readonly kind: ToolSource['kind']
  /** It comes from people or servers outside of the program. */
  readonly outside: boolean
  /** A changed definition of it waits for approval. */
  readonly pinned: boolean
  /** The fields of which a change waits. Undefined: all. */
  readonly pinnedFields: readonly string[] | undefined
  /** A changed definition ends the one before it. */
  readonly supersedes: boolean
  /** What its source says that it runs on. */
  readonly place: string | undefined
  /** It was there before, and is told only if the store does not know it. */
  readonly recalled: boolean
  /** The tenants that alone have it. Undefined: all have it. */
  readonly tenants: readonly string[] | undefined
  /** Where it stands until its state is set. */
  readonly initial: 'registered' | 'enabled'
}

/** Tools of people and servers outside of the program: one that is at fault spoils no other. */
export function isOutside(source: ToolSource): boolean {
  return source.kind === 'declarative' || isForeign(source.kind)
}

/** Whether strangers wrote the schemas of a source's tools, in whatever JSON Schema they know. */
export function isForeign(kind: ToolSource['kind']): boolean {
  return kind === 'mcp' || kind === 'a2a'
}

/** A tool as it is registered: its definition frozen, an imported one's schemas brought into the subset. */
export function toEntry(
  tool: Tool,
  source: ToolSource,
  about: {
    checker: SchemaChecker
    tenants: Entry['tenants']
    initial: Entry['initial']
    deferredTools?: readonly string[] | undefined
  },
): Entry {
  const imported = isForeign(source.kind)
    ? importSchemas(tool.definition, about.checker, source.recalled ?? false)
    : { definition: tool.definition, full: () => isFull(tool.definition, about.checker) }
  return new Admitted({
    tool,
    definition: freezeDeeply(imported.definition),
    source: source.id,
    kind: source.kind,
    outside: isOutside(source),
    pinned: isOutside(source) && source.byOperator !== true,
    pinnedFields: source.pinnedFields,
    supersedes: source.supersedes ?? false,
    recalled: source.recalled ?? false,
    tenants: about.tenants,
    place: source.place,
    initial: about.initial,
    defers: () => isDeferred(tool, source, about.deferredTools ?? []),
    needsFull: imported.full,
  })
}

interface Known extends Omit<Entry, 'digest' | 'identity' | 'line' | 'fullValidation' | 'deferred'> {
  readonly needsFull: boolean | (() => boolean)
  readonly defers: () => boolean
}

/** What is made of it is made when it is asked for: by getters of the class, as thousands with getters of their own would take four times the memory. */
class Admitted implements Entry {
  readonly tool: Entry['tool']
  readonly definition: Entry['definition']
  readonly source: Entry['source']
  readonly kind: Entry['kind']
  readonly outside: Entry['outside']
  readonly pinned: Entry['pinned']
  readonly pinnedFields: Entry['pinnedFields']
  readonly supersedes: Entry['supersedes']
  readonly recalled: Entry['recalled']
  readonly tenants: Entry['tenants']
  readonly place: Entry['place']
  readonly initial: Entry['initial']
  #needsFull: boolean | (() => boolean)
  #defers: boolean | (() => boolean)
  #digest: string | undefined
  #identity: string | undefined

  constructor(known: Known) {
    this.tool = known.tool
    this.definition = known.definition
    this.source = known.source
    this.kind = known.kind
    this.outside = known.outside
    this.pinned = known.pinned
    this.pinnedFields = known.pinnedFields
    this.supersedes = known.supersedes
    this.recalled = known.recalled
    this.tenants = known.tenants
    this.place = known.place
    this.initial = known.initial
    this.#needsFull = known.needsFull
    this.#defers = known.defers
  }

  get fullValidation(): boolean {
    if (typeof this.#needsFull === 'function') this.#needsFull = this.#needsFull()
    return this.#needsFull
  }

  get deferred(): boolean {
    if (typeof this.#defers === 'function') this.#defers = this.#defers()
    return this.#defers
  }

  get digest(): string {
    return (this.#digest ??= digest(canonicalJson(this.definition)))
  }

  get identity(): string {
    return (this.#identity ??= toIdentity(this))
  }

  get line(): string {
    return JSON.stringify([this.kind, this.source, this.definition.name, this.tenants?.toSorted()])
  }
}

/** What searches is found by nothing, so that it is always shown. */
function isDeferred({ defer, definition }: Tool, source: ToolSource, patterns: readonly string[]): boolean {
  if (definition.needs.includes('toolSearch')) return false
  return (
    (defer ?? source.defer ?? false) || patterns.some((pattern) => matchPattern(pattern, definition.name))
  )
}

/** As registered tools and the store have it. */
export function toIdentity({
  kind,
  source,
  place,
  digest: of,
}: Pick<Entry, 'kind' | 'source' | 'place' | 'digest'>): string {
  const from = `${kind}:${encodeURIComponent(source)}`
  return [from, ...(place === undefined ? [] : [digest(place)]), of].join(' ')
}

function importSchemas(
  definition: ToolDefinition,
  checker: SchemaChecker,
  recalled: boolean,
): { definition: ToolDefinition; full: boolean } {
  const input = checker.normalise(definition.inputSchema as JsonObject)
  const output =
    definition.outputSchema === undefined
      ? undefined
      : checker.normalise(definition.outputSchema as JsonObject)
  const full = input.full || (output?.full ?? false)
  if (recalled) return { definition, full }
  return { definition: { ...definition, inputSchema: input.schema, outputSchema: output?.schema }, full }
}

function isFull({ inputSchema, outputSchema }: ToolDefinition, checker: SchemaChecker): boolean {
  const needs = (schema: object): boolean => checker.normalise(schema as JsonObject).full
  return needs(inputSchema) || (outputSchema !== undefined && needs(outputSchema))
}
