import type { Obligations, Treatment } from '../../contract/obligations.ts'
import type { Obligation } from '../../contract/policy.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { parsePointer } from '../../kit/json/json-pointer.ts'
import { meetsPatterns } from '../../kit/match/match-pattern.ts'
import type { HidingRule, TextPattern, WatermarkRule } from './compiled-rule.ts'
import { createTreatment } from './create-treatment.ts'

/** Where obligations are compiled for, and with what. */
export interface ObligationsContext {
  readonly tenant: string
  readonly compilePattern: (source: string) => TextPattern
}

/** What is owed for the tools of one tenant; undefined if that is nothing. Throws what `compilePattern` throws. */
export function compileObligations(
  obligations: readonly Obligation[],
  { tenant, compilePattern }: ObligationsContext,
): Obligations | undefined {
  const own = obligations
    .filter(({ tenants }) => meetsPatterns(tenants, tenant))
    .map((obligation) => ({ obligation, rule: toRule(obligation, compilePattern) }))
  if (own.length === 0) return undefined
  const treatments = new WeakMap<ToolDefinition, { treatment: Treatment | undefined }>()
  return {
    of(definition) {
      let known = treatments.get(definition)
      if (known === undefined) {
        const rules = own.filter(({ obligation }) => isFor(obligation, definition)).map(({ rule }) => rule)
        treatments.set(definition, (known = { treatment: toTreatment(rules, definition) }))
      }
      return known.treatment
    },
  }
}

function isFor({ tools, tags }: Obligation, definition: ToolDefinition): boolean {
  if (!meetsPatterns(tools, definition.name)) return false
  return tags === undefined || tags.some((tag) => definition.tags.includes(tag))
}

/** What is redacted as a whole need not be masked. */
function toTreatment(
  rules: readonly (HidingRule | WatermarkRule)[],
  definition: ToolDefinition,
): Treatment | undefined {
  if (rules.length === 0) return undefined
  const hiding = rules.filter((rule) => 'hiding' in rule)
  const ordered = [
    ...hiding.filter((rule) => rule.hiding === 'redact'),
    ...hiding.filter((rule) => rule.hiding === 'mask'),
  ]
  const watermarks = rules.filter((rule): rule is WatermarkRule => !('hiding' in rule))
  return createTreatment({ hiding: ordered, watermarks }, definition)
}

function toRule(
  obligation: Obligation,
  compilePattern: ObligationsContext['compilePattern'],
): HidingRule | WatermarkRule {
  const { id, action, pointers = [], patterns = [], classifications = [], text = '' } = obligation
  if (action === 'watermark') return { id, text }
  return {
    id,
    hiding: action,
    pointers: pointers.map(parsePointer),
    patterns: patterns.map(compilePattern),
    labels: new Set(classifications),
    onFailure: obligation.onFailure ?? 'deny',
  }
}
