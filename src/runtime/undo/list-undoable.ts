import type { PastCall } from '../../contract/base/history.ts'
import type { History } from '../../contract/history.ts'
import type { UndoableQuery } from '../../contract/runtime.ts'
import { withoutUndone } from './without-undone.ts'

/** The calls of a tenant that could be taken back, the newest first. */
export async function listUndoable(
  history: History | undefined,
  { tenant = 'local', session, since = 0 }: UndoableQuery = {},
): Promise<readonly PastCall[]> {
  // Another session may have taken back what this one did.
  // An id of the program's own says nothing of time.
  const after = session?.startsWith('ses_') === true ? session : undefined
  const calls = withoutUndone((await history?.list({ tenant, after })) ?? [])
  return calls.filter((call) => (session === undefined || call.session === session) && call.at >= since)
}
