import type { SuggestedRule } from '../../compose/foresight/suggested-rule.ts'
import type { Suggestions, WithoutRule } from '../../compose/foresight/suggest-rules.ts'
import type { LetThrough } from '../../compose/foresight/try-rule.ts'
import { countOf } from './count-of.ts'

/** What `policy suggest` prints. */
export function toSuggestionsPage({ suggested, withoutRule, isCut }: Suggestions): string {
  const lines = [
    ...suggested.flatMap((each) => [...toSuggestionLines(each), '']),
    ...withoutRule.flatMap(toReasonLines),
    ...(withoutRule.length > 0 ? [''] : []),
    `${countOf(suggested.length, 'rule')} suggested.${suggested.length > 0 ? ' Nothing was written.' : ' People did not say yes twice to what a rule could answer.'}`,
    ...(isCut ? ['Only the newest calls were looked at. Name a shorter --since to see all of it.'] : []),
  ]
  return `${lines.join('\n')}\n`
}

/** A rule, what it would have answered, and what else it would have let through. */
export function toSuggestionLines({
  tenant,
  tool,
  rule,
  place,
  approved,
  approvers,
  others,
  unjudged,
}: SuggestedRule): string[] {
  const by = approvers.length === 0 ? '' : `, which ${approvers.join(', ')} said yes to`
  return [
    `${tool} of ${tenant}: would have answered ${countOf(approved.length, 'call')}${by}`,
    ...`${JSON.stringify(rule, null, 2)}`.split('\n').map((line) => `  ${line}`),
    `  into ${place} of the policy${place.startsWith('/rules') ? ', for every tenant' : ''}`,
    ...toOtherLines(others, unjudged),
  ]
}

const mostShown = 10

function toOtherLines(others: readonly LetThrough[], unjudged: number): string[] {
  const head =
    others.length === 0
      ? '  nothing else of that time would have been let through'
      : `  ${countOf(others.length, 'other call')} would have been let through unasked:`
  const rows = others
    .slice(0, mostShown)
    .map(
      ({ at, call, actor, was, by }) =>
        `    ${new Date(at).toISOString()}  ${call}  ${actor}: ${was} by ${by}`,
    )
  const more = others.length > mostShown ? [`    and ${others.length - mostShown} more (--json)`] : []
  const unknown = unjudged === 0 ? [] : [`  of ${countOf(unjudged, 'call')} nothing can be said`]
  return [head, ...rows, ...more, ...unknown]
}

function toReasonLines({ tenant, tool, calls, reason }: WithoutRule): string[] {
  return [`no rule for ${countOf(calls.length, 'approved call')} of ${tool} of ${tenant}: ${reason}`]
}
