import type { PendingApproval, PendingApprovals } from '../../contract/pending-approval.ts'
import { chooseOne, shortestEnd, showName } from './find-named.ts'

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
  const exact = all.filter(({ id }) => id === text)
  const found =
    exact.length > 0 || text.length < shortestEnd ? exact : all.filter(({ id }) => id.endsWith(text))
  const shown = showName(text)
  const missing = {
    issue: `the store has no approval ${shown}: it was over long ago, or never was. "handrail approvals --all" shows them.`,
  }
  const chosen = chooseOne(new Set(found.map(({ id }) => id)), { what: 'approval', shown, missing })
  if ('issue' in chosen) return chosen
  const [approval] = found
  return approval === undefined ? missing : { approval }
}
