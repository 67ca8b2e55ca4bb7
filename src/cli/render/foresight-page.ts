import type { Foresight } from '../../compose/foresight/foresee-policy.ts'
import { countOf } from './count-of.ts'

const mostShown = 20

/** What would come of a policy, before it is saved. */
export function toForesightPage({
  judged,
  different,
  unjudged,
  isCut,
  notes,
  failures,
  cases,
}: Foresight): string {
  const rows = different
    .slice(0, mostShown)
    .flatMap(({ at, call, tenant, tool, actor, was, would }) => [
      `${new Date(at).toISOString()}  ${call}  ${tool}  by "${actor}" of tenant "${tenant}"`,
      `  was       ${was.effect} by ${was.layer}/${was.rule}`,
      `  would be  ${would.effect} by ${would.layer}/${would.rule} – ${would.reason}`,
    ])
  const more = different.length > mostShown ? [`and ${different.length - mostShown} more (--json)`] : []
  const lines = [
    ...notes.map(({ pointer, message }) => `note: ${pointer} ${message}`),
    ...rows,
    ...more,
    `${countOf(judged, 'call')} of the last seven days judged, ${different.length} would be decided in another way.`,
    ...unjudged.map(({ reason, calls }) => `${countOf(calls, 'call')} not judged: ${reason}.`),
    ...(isCut ? ['Only the newest calls were looked at, as there are too many.'] : []),
    ...failures.map(({ name, expected, found }) => `✗ ${name}: expected ${expected}, found ${found}`),
    ...(cases > 0 && failures.length === 0 ? [`${countOf(cases, 'case')}: as expected.`] : []),
  ]
  return `${lines.join('\n')}\n`
}
