import type { RuleRow } from '../api.ts'
import { textOf } from './suggestion.tsx'
import { Table } from '../parts/table.tsx'
import { showNumber, When } from '../parts/text.tsx'

/** The rules in force, with what each decided. */
export function PolicyRules({ rules }: { rules: readonly RuleRow[] }) {
  if (rules.length === 0)
    return (
      <p class="empty">The policy has no rules: what changes something asks, and what only reads runs.</p>
    )
  return (
    <Table
      label="Rules"
      columns={['Rule', 'Effect', 'Tenants', ['Decided in 7 days', 'number'], 'Last']}
      rows={rules.map(({ pointer, layer, tenant, id, rule, hits, lastAt, note }) => ({
        key: `${layer} ${pointer}`,
        cells: [
          <details>
            <summary>
              {id} {note !== undefined && <span class="tag warn">{note}</span>}
              {note === undefined && hits === 0 && <span class="tag">idle</span>}
            </summary>
            <code class="rule">{JSON.stringify(rule)}</code> <small>{pointer}</small>
          </details>,
          <span class={rule['effect'] === 'deny' ? 'fault' : rule['effect'] === 'ask' ? 'warn' : 'good'}>
            {textOf(rule['effect'])}
          </span>,
          layer === 'tenant' ? tenant : layer === 'project' ? 'all, in the project' : 'all',
          showNumber(hits),
          lastAt === undefined ? '–' : <When at={lastAt} />,
        ],
      }))}
    />
  )
}
