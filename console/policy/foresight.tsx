import type { ForesightRow } from '../api.ts'
import { Table } from '../parts/table.tsx'
import { countOf, When } from '../parts/text.tsx'

/** What would come of a policy, before it is saved. */
export function Foresight({ foresight }: { foresight: ForesightRow }) {
  const { notes, judged, different, unjudged, isCut, cases, failures } = foresight
  return (
    <section aria-label="What would change">
      <h3>{countOf(different.length, 'call')} of the last seven days would be decided otherwise</h3>
      {different.length > 0 && (
        <Table
          label="Calls that would be decided otherwise"
          columns={['When', 'Call', 'Who', 'Was', 'Would be']}
          rows={different.map(({ call, tenant, at, tool, actor, was, now, would }) => ({
            key: `${tenant} ${call}`,
            cells: [
              <When at={at} />,
              <a href={`/calls/${encodeURIComponent(call)}`}>{tool}</a>,
              <>
                {actor} <small>of {tenant}</small>
              </>,
              <>
                {was.effect} <small>{nameOf(was)}</small>
                {now.effect !== was.effect && (
                  <small>
                    , now {now.effect} by {nameOf(now)}
                  </small>
                )}
              </>,
              <span class={would.effect === 'deny' ? 'fault' : would.effect === 'ask' ? 'warn' : 'good'}>
                {would.effect} <small>{nameOf(would)}</small>
              </span>,
            ],
          }))}
        />
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
