import { SetupError } from '../contract/errors.ts'
import type { Fault, JsonObject } from '../contract/json.ts'
import type { DuplicatePolicy, Registered, Registry } from '../contract/registry.ts'
import type { SchemaChecker } from '../contract/schema.ts'
import type { Tool, ToolDefinition, ToolSource } from '../contract/tool.ts'
import { canonicalJson } from '../kit/canonical-json.ts'
import { digest } from '../kit/digest.ts'
import { judgeTool, type Entry } from './judge-tool.ts'

/** What happened while tools were registered that is no error. */
export interface RegistryReport {
  type: 'duplicate_tool' | 'tool_quarantined'
  tool: string
  source: string
  message: string
}

export interface RegistryOptions {
  checker: SchemaChecker
  /** Default `error`. */
  duplicates?: DuplicatePolicy
  onReport?(report: RegistryReport): void
}

/** A registry that can grow. */
export interface GrowingRegistry extends Registry {
  /** Registers all tools of the sources or, where any is at fault, none, with every fault in one SetupError. */
  register(sources: readonly ToolSource[], options?: { duplicates?: DuplicatePolicy }): void
  /** Disposes every tool that can be. Gives the errors of those that failed. */
  close(): Promise<readonly unknown[]>
}

/** An empty registry. */
export function createRegistry(options: RegistryOptions): GrowingRegistry {
  const byName = new Map<string, Entry>()
  const byFamiliar = new Map<string, Entry>()
  const disposable: Tool[] = []
  let sorted: readonly Registered[] | undefined
  const report = (about: RegistryReport) => options.onReport?.(about)

  const admit = (entry: Entry) => {
    const replaced = byName.get(entry.definition.name)?.tool.familiar
    if (replaced !== undefined) byFamiliar.delete(replaced.name)
    byName.set(entry.definition.name, entry)
    if (entry.tool.familiar !== undefined) byFamiliar.set(entry.tool.familiar.name, entry)
    if (entry.tool.dispose !== undefined) disposable.push(entry.tool)
    sorted = undefined
  }

  return {
    find: (name) => byName.get(name),
    findFamiliar: (name) => byFamiliar.get(name),
    list: () =>
      (sorted ??= [...byName.values()].sort((a, b) => (a.definition.name < b.definition.name ? -1 : 1))),
    get size() {
      return byName.size
    },
    register(sources, { duplicates = options.duplicates ?? 'error' } = {}) {
      const taken = prepare(sources, { byName, byFamiliar, duplicates, checker: options.checker, report })
      for (const entry of taken) admit(entry)
    },
    async close() {
      const failures: unknown[] = []
      for (const tool of disposable.splice(0)) {
        try {
          await tool.dispose?.()
        } catch (error) {
          failures.push(error)
        }
      }
      return failures
    },
  }
}

interface Preparation {
  byName: ReadonlyMap<string, Entry>
  byFamiliar: ReadonlyMap<string, Entry>
  duplicates: DuplicatePolicy
  checker: SchemaChecker
  report(report: RegistryReport): void
}

/** Decides about every tool before any is admitted, so that a refused registration changes nothing. */
function prepare(sources: readonly ToolSource[], about: Preparation): Iterable<Entry> {
  const taken = new Map<string, Entry>()
  const faces = new Map([...about.byFamiliar].map(([face, entry]) => [face, entry.definition.name]))
  const faults: Fault[] = []
  for (const source of insideFirst(sources)) {
    for (const tool of source.list()) {
      const entry = toEntry(tool, source, about.checker)
      const { name } = entry.definition
      const verdict = judgeTool(entry, {
        ...about,
        faces,
        earlier: taken.get(name) ?? about.byName.get(name),
      })
      if (verdict.faults.length > 0 && !isOutside(source)) faults.push(...verdict.faults)
      else if (verdict.report !== undefined)
        about.report({ type: verdict.report, tool: name, source: source.id, message: verdict.message })
      if (!verdict.take) continue
      taken.set(name, entry)
      if (tool.familiar !== undefined) faces.set(tool.familiar.name, name)
    }
  }
  if (faults.length > 0) throw refusal(faults)
  return taken.values()
}

/** What the program itself brings has its names, wherever a server stands in the list. */
function insideFirst(sources: readonly ToolSource[]): ToolSource[] {
  return [...sources].sort((left, right) => Number(isOutside(left)) - Number(isOutside(right)))
}

/** Tools of people and servers outside of the program: one that is at fault spoils no other. */
function isOutside(source: ToolSource): boolean {
  return source.kind === 'mcp' || source.kind === 'declarative'
}

function refusal(faults: readonly Fault[]): SetupError {
  const codes = new Set(faults.map((fault) => fault.code))
  const only = (code: string) => codes.size === 1 && codes.has(code)
  const count = new Set(faults.map((fault) => fault.pointer.split('/')[1])).size
  const message = `${count === 1 ? 'A tool cannot' : `${count} tools cannot`} be registered:`
  if (only('duplicate_tool')) return new SetupError('duplicate_tool', message, faults)
  if (only('invalid_name')) return new SetupError('invalid_name', message, faults)
  if (only('inconsistent_manifest')) return new SetupError('inconsistent_manifest', message, faults)
  if ([...codes].every((code) => code.startsWith('unsupported')))
    return new SetupError('unsupported_schema', message, faults)
  return new SetupError('invalid_definition', message, faults)
}

function toEntry(tool: Tool, source: ToolSource, checker: SchemaChecker): Entry {
  const imported =
    source.kind === 'mcp'
      ? importSchemas(tool.definition, checker)
      : { definition: tool.definition, full: false }
  const definition = freeze(imported.definition)
  let known: string | undefined
  return {
    tool,
    definition,
    source: source.id,
    kind: source.kind,
    state: 'enabled',
    fullValidation: imported.full,
    get digest() {
      return (known ??= digest(canonicalJson(definition)))
    },
  }
}

function importSchemas(
  definition: ToolDefinition,
  checker: SchemaChecker,
): { definition: ToolDefinition; full: boolean } {
  const input = checker.normalise(definition.inputSchema as JsonObject)
  const output =
    definition.outputSchema === undefined
      ? undefined
      : checker.normalise(definition.outputSchema as JsonObject)
  return {
    definition: { ...definition, inputSchema: input.schema, outputSchema: output?.schema },
    full: input.full || (output?.full ?? false),
  }
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const item of Object.values(value)) freeze(item)
  }
  return value
}
