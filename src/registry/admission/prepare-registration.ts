import { SetupError } from '../../contract/base/errors.ts'
import type { SetupErrorCode } from '../../contract/errors/setup-errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { DuplicatePolicy, RegisterOptions } from '../../contract/registry.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import type { ToolSource } from '../../contract/tool/tool.ts'
import { createToolSets, type ToolSets } from '../catalog/create-tool-sets.ts'
import { checkTool, describeMissing, judgePlace, refuse, type Verdict } from './judge-tool.ts'
import { isOutside, toEntry, type Entry } from '../state/to-entry.ts'
import { allTenants } from '../state/tool-facts.ts'

/** What happened while tools were registered and is not an error. */
export interface RegistryReport {
  type: 'duplicate_tool' | 'tool_quarantined' | 'service_missing'
  tool: string
  source: string
  message: string
}

/** A tool on its way to its place. */
export interface StagedTool {
  readonly scope: string
  readonly entry: Entry
  /** What stands there now. */
  readonly replaces: Entry | undefined
}

/** Tools that passed every check, before any of them is there. */
export interface Registration {
  readonly stagedTools: readonly StagedTool[]
  /** Handed in and not taken; they are ended with all others. */
  readonly leftOver: readonly Entry[]
  readonly by: string
}

/** What a registration is held against. */
export interface Preparation {
  checker: SchemaChecker
  /** What is registered already. Default: nothing. */
  toolSets?: ToolSets
  /** Where the options name none. */
  duplicates: DuplicatePolicy
  /** What the host hands in, by name. Default: nothing. */
  services?: Readonly<Record<string, unknown>>
  options?: RegisterOptions
  /** Patterns of tools that models are not shown until they are found. Default: none. */
  deferredTools?: readonly string[] | undefined
  report(report: RegistryReport): void
}

/**
 * Decides about every tool of the sources before any is registered, so that a refused registration changes nothing. Throws a
 * SetupError with every issue of the tools that the program itself brings; what comes from outside is reported and left out.
 */
export function prepareRegistration(sources: readonly ToolSource[], about: Preparation): Registration {
  const { options = {}, checker, deferredTools } = about
  const staged = stageTools(about.toolSets ?? createToolSets())
  const leftOver: Entry[] = []
  const issues: Issue[] = []
  for (const source of insideFirst(sources)) {
    for (const { tool, message } of source.quarantined?.() ?? [])
      about.report({ type: 'tool_quarantined', tool, source: source.id, message })
    const tenants = source.tenants ?? options.tenants
    for (const tool of source.list()) {
      const entry = toEntry(tool, source, {
        checker,
        tenants,
        initial: options.state ?? 'enabled',
        deferredTools,
      })
      let taken = false
      for (const { scope, verdict } of judge(entry, { ...about, scopes: tenants ?? [allTenants] }, staged)) {
        if (verdict.issues.length > 0 && !entry.outside) issues.push(...verdict.issues)
        else if (verdict.report !== undefined)
          about.report({
            type: verdict.report,
            tool: entry.definition.name,
            source: source.id,
            message: verdict.message,
          })
        if (verdict.take) leftOver.push(...staged.put(scope, entry))
        taken ||= verdict.take
      }
      if (!taken) leftOver.push(entry)
      const missing = taken ? describeMissing(entry.definition, about.services ?? {}) : undefined
      if (missing !== undefined)
        about.report({
          type: 'service_missing',
          tool: entry.definition.name,
          source: source.id,
          message: missing,
        })
    }
  }
  if (issues.length > 0) throw refusal(issues)
  return { stagedTools: staged.stagedTools(), leftOver, by: options.by ?? 'host' }
}

function* judge(
  entry: Entry,
  { checker, duplicates, options = {}, scopes }: Preparation & { scopes: readonly string[] },
  staged: StagedTools,
): Iterable<{ scope: string; verdict: Verdict }> {
  const issues = checkTool(entry, checker)
  if (issues.length > 0) return yield { scope: scopes[0] ?? allTenants, verdict: refuse(entry, issues) }
  const update = options.update !== true ? 'no' : options.downgrade === true ? 'any' : 'newer'
  for (const scope of scopes) {
    const earlier = staged.find(scope, entry.definition.name)
    const verdict = judgePlace(entry, {
      duplicates: options.duplicates ?? duplicates,
      update,
      earlier: earlier?.entry,
      isSamePlace: earlier?.scope === scope,
      presentationHolder: staged.presentationHolder(scope, entry.tool.compatible?.name),
    })
    yield { scope, verdict }
  }
}

/** The tool sets as they would be after a registration. */
interface StagedTools {
  find(scope: string, name: string): { scope: string; entry: Entry } | undefined
  presentationHolder(scope: string, presentation: string | undefined): string | undefined
  /** Returns what had been staged there. */
  put(scope: string, entry: Entry): Entry[]
  stagedTools(): StagedTool[]
}

function stageTools(toolSets: ToolSets): StagedTools {
  const staged = createToolSets()
  /** Where a tool of a scope could be in the way of another tool: a tenant sees what all have, and all see what a tenant has. */
  const near = (scope: string): string[] =>
    scope === allTenants
      ? [...new Set([scope, ...staged.scopes(), ...toolSets.scopes()])]
      : [scope, allTenants]
  return {
    find(scope, name) {
      for (const each of near(scope)) {
        const entry = staged.toolSet(each).byName.get(name) ?? toolSets.toolSet(each).byName.get(name)
        if (entry !== undefined) return { scope: each, entry }
      }
      return undefined
    },
    presentationHolder(scope, presentation) {
      if (presentation === undefined) return undefined
      for (const each of near(scope)) {
        const entry =
          staged.toolSet(each).byCompatible.get(presentation) ??
          toolSets.toolSet(each).byCompatible.get(presentation)
        if (entry !== undefined) return entry.definition.name
      }
      return undefined
    },
    put(scope, entry) {
      const before = staged.put(scope, entry)
      return before === undefined ? [] : [before]
    },
    stagedTools: () =>
      staged.scopes().flatMap((scope) =>
        [...staged.toolSet(scope).byName.values()].map((entry) => ({
          scope,
          entry,
          replaces: toolSets.toolSet(scope).byName.get(entry.definition.name),
        })),
      ),
  }
}

/** What the program itself brings has its names, wherever a server stands in the list. */
function insideFirst(sources: readonly ToolSource[]): ToolSource[] {
  return [...sources].sort((left, right) => Number(isOutside(left)) - Number(isOutside(right)))
}

/** Codes of issues that, alone, say what the whole is about. */
const wholes: readonly { code: SetupErrorCode; of: readonly string[] }[] = [
  { code: 'duplicate_tool', of: ['duplicate_tool'] },
  { code: 'invalid_name', of: ['invalid_name'] },
  { code: 'inconsistent_manifest', of: ['inconsistent_manifest'] },
  { code: 'breaking_change', of: ['breaking_change', 'same_version', 'lower_version'] },
]

/** What is thrown for tools that cannot be registered, for all their issues together. */
export function refusal(issues: readonly Issue[], why = ''): SetupError {
  const codes = [...new Set(issues.map((issue) => issue.code))]
  const count = new Set(issues.map((issue) => issue.pointer.split('/')[1])).size
  const message = `${count === 1 ? 'A tool cannot' : `${count} tools cannot`} be registered${why}:`
  const whole = wholes.find(({ of }) => codes.every((code) => of.includes(code)))
  if (whole !== undefined) return new SetupError(whole.code, message, issues)
  const unsupported = codes.every((code) => code.startsWith('unsupported'))
  return new SetupError(unsupported ? 'unsupported_schema' : 'invalid_definition', message, issues)
}
