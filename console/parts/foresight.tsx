import type { ForesightRow } from '../api.ts'
import { countOf } from './suggestion.tsx'
import { TableHead } from './table-head.tsx'
import { When } from './text.tsx'

/** What would come of a policy, before it is saved. */
export function Foresight({ foresight }: { foresight: ForesightRow }) {
  const { notes, judged, different, unjudged, isCut, cases, failures } = foresight
  return (
    <section aria-label="What would change">
      <h3>{countOf(different.length, 'call')} of the last seven days would be decided otherwise</h3>
      {different.length > 0 && (
        <table class="words" aria-label="Calls that would be decided otherwise">
          <TableHead columns={['When', 'Call', 'Who', 'Was', 'Would be']} />
          <tbody>
            {different.map(({ call, tenant, at, tool, actor, was, now, would }) => (
              <tr key={`${tenant} ${call}`}>
                <td>
                  <When at={at} />
                </td>
                <td class="any">
                  <a href={`/calls/${encodeURIComponent(call)}`}>{tool}</a>
                </td>
                <td class="any">
                  {actor} <small>of {tenant}</small>
                </td>
                <td class="any">
                  {was.effect} <small>{nameOf(was)}</small>
                  {now.effect !== was.effect && (
                    <small>
                      , now {now.effect} by {nameOf(now)}
                    </small>
                  )}
                </td>
                <td
                  class={`any ${would.effect === 'deny' ? 'fault' : would.effect === 'ask' ? 'warn' : 'good'}`}
                >
                  {would.effect} <small>{nameOf(would)}</small>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="empty">
        {countOf(judged, 'call')} judged{isCut && ', only the newest, as there are too many'}.
        {unjudged.map(({ reason, calls }) => ` ${countOf(calls, 'call')} not judged: ${reason}.`)}
      </p>
      {notes.map(({ line, pointer, message }) => (
        <p key={`${pointer} ${message}`} class="warn">
          Line {line}, {pointer}: {message}
        </p>
      ))}
      {failures.map(({ name, expected, found }) => (
        <p key={name} class="fault">
          ✗ {name}: expected {expected}, found {found}
        </p>
      ))}
      {cases > 0 && failures.length === 0 && <p class="good">{countOf(cases, 'case')}: as expected.</p>}
    </section>
  )
}

function nameOf({ layer, rule }: { readonly layer: string; readonly rule: string }): string {
  return `${layer}/${rule}`
}
