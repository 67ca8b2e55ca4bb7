import type { Operation } from '../contract/tool/plan.ts'
import type { DecisionFacts, Effect, Layer, Rule } from '../contract/policy.ts'
import type { Mode, Role } from '../contract/base/principal.ts'
import type { ToolDefinition } from '../contract/tool/tool.ts'
import { matchPath, matchPattern, meetsPatterns } from '../kit/match/match-pattern.ts'
import { readCommandPattern, type CommandPattern } from '../kit/shell/command-pattern.ts'
import { matchHost } from '../kit/match/match-host.ts'
import { couldBeProgram, isProgram } from './commands/match-program.ts'
import { toolUrn } from '../kit/match/urn.ts'

/** A rule made ready to match. */
export interface CompiledRule {
  readonly layer: Layer
  readonly id: string
  readonly effect: Effect
  readonly reason: string
  /** Whether it names what may be reached, not the tool alone. */
  readonly narrow: boolean
  readonly sensitive: boolean
  /** Whether it holds in this project. */
  readonly here: boolean
  readonly roles: readonly Role[] | undefined
  readonly modes: readonly Mode[] | undefined
  readonly tools: readonly string[] | undefined
  readonly tags: readonly string[] | undefined
  readonly resources: readonly ResourceMatcher[] | undefined
  readonly argv: readonly string[] | undefined
  readonly commands: readonly CommandPattern[] | undefined
  readonly input: readonly (readonly [field: string, pattern: string])[] | undefined
  /** Whether no other field is there. */
  readonly inputOnly: boolean
}

/** Whether a program of the call wrote it, and the plan did not name it. */
export function isWrittenByProgram(operation: Operation): boolean {
  return operation.kind === 'fs.write' && operation.by === 'program'
}

interface ResourceMatcher {
  /** The glob of a file pattern. */
  readonly path?: string
  matches(urn: string): boolean
}

/** Where rules and their places are. */
export interface RulePlaces {
  home: string
  project: string
  /** The project that this one is a part of: rules for that one hold here too. */
  partOf?: string | undefined
  /** Directories that tools may write; a bare program name never means a program in there. */
  writable: readonly string[]
}

/** The rules that can matter for a tool, found by its name and tags without looking at all others. */
export interface RuleIndex {
  rulesFor(definition: ToolDefinition): ToolRules
}

/** The rules of one tool, each in the order of the policy. */
export interface ToolRules {
  /** They match by the tool alone. */
  readonly settled: readonly CompiledRule[]
  /** Whether they match depends on what the call reaches or is given. */
  readonly open: readonly CompiledRule[]
  /** Those of the open ones that can match a call that reaches nothing. */
  readonly openByInput: readonly CompiledRule[]
}

export function compileRule(
  rule: Rule,
  about: { layer: Layer; index: number; places: RulePlaces },
): CompiledRule {
  const id = rule.id ?? `${about.layer}/rules/${about.index}`
  return {
    layer: about.layer,
    id,
    effect: rule.effect,
    reason: rule.reason ?? `rule "${id}" says ${rule.effect}`,
    narrow: isNarrow(rule),
    sensitive: rule.sensitive ?? false,
    here: rule.projects?.some((folder) => isHere(toPlace(folder, about.places), about.places)) ?? true,
    roles: rule.roles,
    modes: rule.modes,
    tools: rule.tools,
    tags: rule.tags,
    resources: rule.resources?.map((pattern) => compileResource(pattern, about.places)),
    argv: rule.argv,
    commands: rule.commands?.map(readCommandPattern),
    input: rule.input === undefined && rule.inputOnly !== true ? undefined : Object.entries(rule.input ?? {}),
    inputOnly: rule.inputOnly ?? false,
  }
}

function isHere(folder: string, { project, partOf }: RulePlaces): boolean {
  return folder === project || folder === partOf
}

/** Whether a rule says which files, hosts or commands it speaks of: only such a one lets a dangerous tool through. */
export function isNarrow({ argv, commands, resources }: Rule): boolean {
  if (argv !== undefined || commands !== undefined) return true
  return resources !== undefined && resources.every((pattern) => /^handrail:(file|host|exec):/.test(pattern))
}

function compileResource(pattern: string, places: RulePlaces): ResourceMatcher {
  const file = 'handrail:file:'
  const host = 'handrail:host:'
  if (pattern.startsWith(file)) {
    const path = toPlace(pattern.slice(file.length), places)
    const start = file + folderOf(path)
    return { path, matches: (urn) => urn.startsWith(start) && matchPath(path, urn.slice(file.length)) }
  }
  if (pattern.startsWith(host)) {
    return {
      matches: (urn) => urn.startsWith(host) && matchHost(pattern.slice(host.length), urn.slice(host.length)),
    }
  }
  return { matches: (urn) => matchPattern(pattern, urn) }
}

/** What every path begins with that a glob matches. */
export function folderOf(glob: string): string {
  const [literal = ''] = glob.split(/[*?]/, 1)
  return literal.slice(0, Math.max(literal.lastIndexOf('/'), 0))
}

function toPlace(path: string, places: RulePlaces): string {
  return path.replace(/^~(?=\/|$)/, () => places.home).replace(/^\{project\}/, () => places.project)
}

/** Builds the index: rules by exact tool name, by first name segment, by tag, and those that any tool may meet. */
export function indexRules(rules: readonly CompiledRule[]): RuleIndex {
  const exact = new Map<string, Set<CompiledRule>>()
  const group = new Map<string, Set<CompiledRule>>()
  const tagged = new Map<string, Set<CompiledRule>>()
  const anywhere: CompiledRule[] = []
  for (const rule of rules) {
    if (!rule.here) continue
    if (rule.tools !== undefined) {
      for (const pattern of rule.tools) {
        if (!pattern.includes('*')) put(exact, pattern, rule)
        else if (/^[^*.]+\./.test(pattern)) put(group, pattern.slice(0, pattern.indexOf('.')), rule)
        else anywhere.push(rule)
      }
    } else if (rule.tags !== undefined) for (const tag of rule.tags) put(tagged, tag, rule)
    else anywhere.push(rule)
  }
  const known = new WeakMap<ToolDefinition, ToolRules>()
  return {
    rulesFor(definition) {
      let found = known.get(definition)
      if (found === undefined) {
        const near = new Set([
          ...(exact.get(definition.name) ?? []),
          ...(group.get(definition.name.slice(0, definition.name.indexOf('.'))) ?? []),
          ...definition.tags.flatMap((tag) => [...(tagged.get(tag) ?? [])]),
          ...anywhere,
        ])
        const own = [...near].filter((rule) => matchesTool(rule, definition) && mayMeet(rule, definition))
        const urn = toolUrn(definition.name)
        const open = own.filter((rule) => !isSettled(rule, urn))
        found = {
          settled: own.filter((rule) => isSettled(rule, urn)),
          open,
          openByInput: open.filter((rule) => isByInput(rule, urn)),
        }
        known.set(definition, found)
      }
      return found
    },
  }
}

function put(map: Map<string, Set<CompiledRule>>, key: string, rule: CompiledRule): void {
  const rules = map.get(key)
  if (rules === undefined) map.set(key, new Set([rule]))
  else rules.add(rule)
}

/** A rule without a scope, or on the tool's own URN, which covers all that the tool reaches. */
function isSettled({ argv, commands, input, resources }: CompiledRule, urn: string): boolean {
  if (argv !== undefined || commands !== undefined || input !== undefined) return false
  return resources === undefined || resources.some((matcher) => matcher.matches(urn))
}

/** A rule that needs nothing of what the tool reaches. */
function isByInput(rule: CompiledRule, urn: string): boolean {
  return rule.input !== undefined && isSettled({ ...rule, input: undefined }, urn)
}

/** A rule on programs meets no tool whose manifest names none that it starts. */
function mayMeet({ argv, commands }: CompiledRule, { capabilities }: ToolDefinition): boolean {
  return (argv === undefined && commands === undefined) || capabilities.proc.executables.length > 0
}

function matchesTool(rule: CompiledRule, definition: ToolDefinition): boolean {
  if (!meetsPatterns(rule.tools, definition.name)) return false
  return rule.tags === undefined || rule.tags.some((tag) => definition.tags.includes(tag))
}

/** Whether a rule speaks of this role and mode. */
export function isFor(
  rule: CompiledRule,
  { principal, mode }: Pick<DecisionFacts, 'principal' | 'mode'>,
): boolean {
  if (rule.roles !== undefined && !rule.roles.includes(principal.role)) return false
  return rule.modes === undefined || rule.modes.includes(mode)
}

/** Globs of the files that these rules deny or ask for. */
export function guardedPaths(rules: ToolRules, facts: Pick<DecisionFacts, 'principal' | 'mode'>): string[] {
  return pathsOf(restricting(rules, facts).filter(isAboutPaths))
}

/** The same, also if the rule speaks of some calls only: of commands, of arguments or of an input. */
export function restrictedPaths(
  rules: ToolRules,
  facts: Pick<DecisionFacts, 'principal' | 'mode'>,
): string[] {
  return pathsOf(restricting(rules, facts))
}

function restricting(
  { settled, open }: ToolRules,
  facts: Pick<DecisionFacts, 'principal' | 'mode'>,
): CompiledRule[] {
  return [...settled, ...open].filter((rule) => rule.effect !== 'allow' && isFor(rule, facts))
}

function pathsOf(rules: readonly CompiledRule[]): string[] {
  return rules
    .flatMap((rule) => rule.resources ?? [])
    .flatMap(({ path }) => (path === undefined ? [] : [path]))
}

function isAboutPaths({ argv, commands, input }: CompiledRule): boolean {
  return argv === undefined && commands === undefined && input === undefined
}

/**
 * Whether what a call reaches meets a scoped rule. An allow must cover all of it; a deny or an ask is met by any part.
 * A rule on the tool's own URN covers all of it. What the rule says of commands and input is not looked at here.
 */
export function matchesScope(rule: CompiledRule, definition: ToolDefinition, reached: Reached): boolean {
  const { operations, urns, writable } = reached
  const every = rule.effect === 'allow'
  if (rule.argv !== undefined) {
    const met = operations.filter((operation) => meetsArgv(rule, operation, writable))
    // What a command reaches of the network is asked about by itself, and what it wrote is its own.
    const others = operations.filter(
      (operation) => operation.kind !== 'net' && !isWrittenByProgram(operation),
    )
    if (met.length === 0 || (every && met.length < others.length)) return false
  }
  if (rule.resources === undefined) return true
  const matchers = rule.resources
  const urn = toolUrn(definition.name)
  if (matchers.some((matcher) => matcher.matches(urn))) return true
  const meets = (reachedUrn: string) => matchers.some((matcher) => matcher.matches(reachedUrn))
  return every ? urns.length > 0 && urns.every(meets) : urns.some(meets)
}

/** What a call reaches, made ready to be matched by many rules. */
export interface Reached {
  readonly operations: readonly Operation[]
  /** Of each operation. */
  readonly urns: readonly string[]
  /** Directories that tools may write. */
  readonly writable: readonly string[]
}

/** An allow needs to be sure of the program; a deny or an ask is met where it could be. */
function meetsArgv(
  { argv = [], effect }: CompiledRule,
  operation: Operation,
  writable: readonly string[],
): boolean {
  if (operation.kind !== 'process') return false
  const [program = '', ...rest] = argv
  const isMeant =
    effect === 'allow' ? isProgram(program, operation, writable) : couldBeProgram(program, operation)
  return isMeant && matchArguments(rest, operation.argv.slice(1))
}

function matchArguments(patterns: readonly string[], args: readonly string[]): boolean {
  const open = patterns.at(-1) === '**'
  const fixed = open ? patterns.slice(0, -1) : patterns
  if (open ? args.length < fixed.length : args.length !== fixed.length) return false
  return fixed.every((pattern, index) => matchPattern(pattern, args[index] ?? ''))
}
