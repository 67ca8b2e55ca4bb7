import type { RuleRow } from '../api.ts'
import { textOf } from './suggestion.tsx'
import { TableHead } from './table-head.tsx'
import { When } from './text.tsx'

/** The rules in force, with what each decided. */
export function PolicyRules({ rules }: { rules: readonly RuleRow[] }) {
  if (rules.length === 0)
    return (
      <p class="empty">The policy has no rules: what changes something asks, and what only reads runs.</p>
    )
  return (
    <table class="words" aria-label="Rules">
      <TableHead columns={['Rule', 'Effect', 'Of', ['7 days', 'number'], 'Last']} />
      <tbody>
        {rules.map(({ pointer, layer, tenant, id, rule, hits, lastAt, note }) => (
          <tr key={`${layer} ${pointer}`}>
            <td class="any">
              <details>
                <summary>
                  {id} {note !== undefined && <span class="tag warn">{note}</span>}
                  {note === undefined && hits === 0 && <span class="tag">idle</span>}
                </summary>
                <code class="rule">{JSON.stringify(rule)}</code> <small>{pointer}</small>
              </details>
            </td>
            <td class={rule['effect'] === 'deny' ? 'fault' : rule['effect'] === 'ask' ? 'warn' : 'good'}>
              {textOf(rule['effect'])}
            </td>
            <td>{layer === 'tenant' ? tenant : layer === 'project' ? 'the project' : 'all'}</td>
            <td class="number">{hits}</td>
            <td>{lastAt === undefined ? '' : <When at={lastAt} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
