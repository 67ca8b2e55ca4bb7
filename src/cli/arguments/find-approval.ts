import type { PendingApproval, PendingApprovals } from '../../contract/pending-approval.ts'
import { findAmong, showName } from './find-named.ts'

/** What help says of naming one. */
export const aboutApprovals =
  'An approval is named by its id, by how that ends, or as "last", the one that was asked last of those that wait.'

/** The approval that a person means. If no single one is meant, why not, in words. */
export function findApproval(
  approvals: Pick<PendingApprovals, 'list'>,
  { text, tenant }: { text: string; tenant: string | undefined },
): { approval: PendingApproval } | { issue: string } {
  const all = approvals.list({ state: 'all', ...(tenant !== undefined && { tenant }) })
  if (text === 'last') {
    const last = all.findLast(({ state }) => state === 'waiting')
    return last === undefined
      ? { issue: 'no approval waits. "handrail approvals --all" shows those that were answered.' }
      : { approval: last }
  }
  const none = `the store has no approval ${showName(text)}: it was over long ago, or never was. "handrail approvals --all" shows them.`
  const found = findAmong(all, { what: 'approval', text, none })
  return 'issue' in found ? found : { approval: found.item }
}
