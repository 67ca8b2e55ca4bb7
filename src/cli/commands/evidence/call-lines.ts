import type { ListedCall } from '../../../evidence/find-calls.ts'
import { showLine } from '../../base/show-safely.ts'

/** The lines of a listing. Who made a call is told where not all have the same. */
export function toCallLines(calls: readonly ListedCall[]): string[] {
  const nameOf = ({ tenant, actor }: ListedCall): string => `${tenant}/${actor}`
  const names = new Set(calls.map(nameOf))
  const width = Math.max(0, ...[...names].map((name) => name.length))
  return calls.map((listed) => {
    const { at, call, outcome, tool } = listed
    const who = names.size > 1 ? `${nameOf(listed).padEnd(width)}  ` : ''
    return `${new Date(at).toISOString()}  ${call}  ${outcome.padEnd(7)}  ${showLine(who + tool)}${toWhy(listed)}${showLine(toOthers(listed))}`
  })
}

/** Who has a record of the same call, and what they call it. */
function toOthers(listed: ListedCall): string {
  const { askedBy } = listed
  const doneBy = listed.outcome === 'running' ? undefined : listed.counterpart
  const asked = askedBy === undefined ? '' : `  asked by ${askedBy.domain} as ${askedBy.call}`
  return doneBy === undefined ? asked : `${asked}  done by ${doneBy.domain} as ${doneBy.call}`
}

function toWhy(listed: ListedCall): string {
  if (listed.outcome === 'running') return ''
  const { code, reason, resolved } = listed
  const why = code === undefined ? '' : `  ${code} (${reason ?? ''})`
  return `${why}${resolved === undefined ? '' : `, resolved: ${resolved.replace('_', ' ')}`}`
}
