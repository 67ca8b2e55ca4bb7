import type { AgentRuns, StoredRun } from '../../contract/agent-run.ts'
import { UsageError } from '../base/usage-error.ts'
import { showLine } from '../base/show-safely.ts'
import { findAmong, showName } from './find-named.ts'

/** What help says of naming one. */
export const aboutRuns =
  'A run is named by its id, by how that ends, or as "last": the newest that no other run started.'

const most = 10_000

/** The run of a tenant that a person means. Throws a UsageError if they mean none or several. */
export function findRun(
  runs: Pick<AgentRuns, 'list' | 'find'>,
  { text, tenant }: { text: string; tenant: string | undefined },
): StoredRun {
  const of = tenant === undefined ? {} : { tenant }
  const exact = text === 'last' ? findLast(runs, of) : runs.find(text, tenant)
  if (exact !== undefined) return exact
  const none = `the store has no run ${showName(text)}. "handrail runs" lists them.`
  const found = findAmong(runs.list({ ...of, limit: most }), { what: 'run', text, none })
  if ('issue' in found) throw new UsageError(showLine(found.issue))
  return found.item
}

/** The newest run, those left out that calls of other runs started: they go on with those. */
function findLast(runs: Pick<AgentRuns, 'list'>, of: { tenant?: string }): StoredRun | undefined {
  for (const limit of [10, 1_000, most]) {
    const found = runs.list({ ...of, limit })
    const last = found.find(({ parent }) => parent?.run === undefined)
    if (last !== undefined || found.length < limit) return last ?? found[0]
  }
  return undefined
}
