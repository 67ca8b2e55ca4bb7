import type { Operation } from '../contract/tool/plan.ts'
import type { DecisionFacts } from '../contract/policy.ts'
import { matchPattern } from '../kit/match/match-pattern.ts'
import { operationUrn } from '../kit/match/urn.ts'
import { findParts, type CommandContext, type Part } from './commands/find-parts.ts'
import { findRuns, type Runs } from './commands/find-runs.ts'
import { coversPart, meetsRuns } from './commands/match-commands.ts'
import { isFor, isWrittenByProgram, matchesScope, type CompiledRule } from './compile-rules.ts'

/**
 * The rules that match by what a call reaches or is given. A rule that may match, where that cannot be told, asks. Rules that allow
 * commands cover a call together: each command by one of them.
 */
export function matchOpenRules(
  open: readonly CompiledRule[],
  facts: DecisionFacts,
  context: CommandContext,
): CompiledRule[] {
  const { definition, operations = [] } = facts
  const reached = { operations, urns: operations.map(operationUrn), writable: context.writable }
  const able = open.filter(
    (rule) =>
      isFor(rule, facts) && matchesInput(rule, facts.input) && matchesScope(rule, definition, reached),
  )
  if (able.every((rule) => rule.commands === undefined)) return able
  const covering = able.filter((rule) => rule.effect === 'allow' && rule.commands !== undefined)
  const matched = able.filter((rule) => rule.commands === undefined)
  const restricting = able.filter((rule) => rule.effect !== 'allow' && rule.commands !== undefined)
  if (restricting.length > 0) matched.push(...meetRuns(restricting, operations))
  if (covering.length > 0) matched.push(...coverParts(covering, operations, context))
  return matched
}

function matchesInput({ input, inputOnly }: CompiledRule, given: DecisionFacts['input']): boolean {
  if (input === undefined) return true
  if (given === undefined) return false
  if (inputOnly && Object.keys(given).some((field) => !input.some(([named]) => named === field))) return false
  return input.every(([field, pattern]) => {
    const value = Object.hasOwn(given, field) ? given[field] : undefined
    return value !== undefined && typeof value !== 'object' && matchPattern(pattern, String(value))
  })
}

function meetRuns(rules: readonly CompiledRule[], operations: readonly Operation[]): CompiledRule[] {
  const each = operations.flatMap((operation) => (operation.kind === 'process' ? [findRuns(operation)] : []))
  if (each.length === 0) return []
  const runs: Runs = {
    views: each.flatMap(({ views }) => views),
    possible: each.flatMap(({ possible }) => possible),
    hidden: each.some(({ hidden }) => hidden),
  }
  const matched: CompiledRule[] = []
  for (const rule of rules) {
    const met = meetsRuns(rule.commands ?? [], runs)
    if (met !== 'no') matched.push(met === 'yes' ? rule : toQuestion(rule))
  }
  return matched
}

function toQuestion(rule: CompiledRule): CompiledRule {
  const reason = `the command cannot be read safely, and rule "${rule.id}" may ${rule.effect} it`
  return { ...rule, effect: 'ask', reason }
}

/** The rules that cover all commands together; none if one command is left. */
function coverParts(
  rules: readonly CompiledRule[],
  operations: readonly Operation[],
  context: CommandContext,
): readonly CompiledRule[] {
  const parts: Part[] = []
  const wrote = operations.some(isWrittenByProgram)
  for (const operation of operations) {
    // What a command reaches of the network is asked about by itself.
    if (operation.kind === 'net' || isWrittenByProgram(operation)) continue
    const own = operation.kind === 'process' ? findParts(operation, context) : undefined
    if (own === undefined) return []
    parts.push(...own)
  }
  if (parts.length === 0) return []
  // A rule that lets a command look lets none of its changes land.
  if (wrote && parts.every(({ looksOnly }) => looksOnly)) return []
  const used = new Set<CompiledRule>()
  for (const part of parts) {
    const rule = rules.find(({ commands = [] }) => coversPart(commands, part))
    if (rule === undefined) return []
    used.add(rule)
  }
  return [...used]
}
