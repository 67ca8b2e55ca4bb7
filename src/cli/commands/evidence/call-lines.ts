import type { ListedCall } from '../../../evidence/find-calls.ts'
import { showLine } from '../../base/show-safely.ts'

/** The lines of a listing. Who made a call is told where not all have the same. */
export function toCallLines(calls: readonly ListedCall[]): string[] {
  const names = new Set(calls.map(nameOf))
  const width = Math.max(0, ...[...names].map((name) => name.length))
  return calls.map((listed) => toLine(listed, names.size > 1 ? `${nameOf(listed).padEnd(width)}  ` : ''))
}

/** The line of a call beside which others are not known yet: it says who made it. */
export function toCallLine(listed: ListedCall): string {
  return toLine(listed, `${nameOf(listed)}  `)
}

function nameOf({ tenant, actor }: ListedCall): string {
  return `${tenant}/${actor}`
}

function toLine(listed: ListedCall, who: string): string {
  const { at, call, outcome, tool } = listed
  return `${new Date(at).toISOString()}  ${call}  ${outcome.padEnd(7)}  ${showLine(who + tool)}${toWhy(listed)}${showLine(toOthers(listed))}`
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
