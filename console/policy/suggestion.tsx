import type { Json, SuggestionRow } from '../api.ts'
import { Table } from '../parts/table.tsx'
import { countOf, Outcome, Value, When } from '../parts/text.tsx'

/** A rule, what it would have answered, and what else it would have let through. */
export function Suggestion({
  suggestion,
  isOffer = false,
}: {
  suggestion: SuggestionRow
  /** Whether it is made for a call that waits. */
  isOffer?: boolean
}) {
  const { rule, tenant, tool, place, approved, approvers, others, unjudged } = suggestion
  const isForAll = place.startsWith('/rules')
  return (
    <>
      <p>
        {isOffer ? (
          'This rule lets the call through, and each one after it that reaches the same.'
        ) : (
          <>
            Would have answered {countOf(approved.length, 'call')} of <strong>{tool}</strong> of {tenant}
            {approvers.length > 0 && `, which ${approvers.join(', ')} said yes to`}.
          </>
        )}
        {isForAll && ' It holds for every tenant, as the policy names none.'}
      </p>
      <Value value={rule} label={`The rule for ${tool}`} />
      {others.length === 0 ? (
        <p>Nothing else of that time would have been let through.</p>
      ) : (
        <details open>
          <summary>{countOf(others.length, 'other call')} would have been let through unasked</summary>
          <Table
            label="Calls that would have been let through too"
            columns={['When', 'Call', 'Who', 'Was', 'By']}
            rows={others.map(({ call, at, tool: name, actor, was, by }) => ({
              key: call,
              cells: [
                <When at={at} />,
                <a href={`/calls/${encodeURIComponent(call)}`}>{name}</a>,
                actor,
                <Outcome outcome={was} />,
                by,
              ],
            }))}
          />
        </details>
      )}
      {unjudged > 0 && <p class="empty">{countOf(unjudged, 'call')} of that time could not be judged.</p>}
    </>
  )
}

/** A text of a rule; empty for what is none. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
