import type { PendingApproval } from '../api.ts'

/** What waits of one session. */
export interface Group {
  readonly session: string
  /** The nearest deadline first. */
  readonly approvals: readonly PendingApproval[]
}

/** By session; the session with the nearest deadline first. */
export function groupWaiting(waiting: Iterable<PendingApproval>): readonly Group[] {
  const groups = new Map<string, PendingApproval[]>()
  for (const approval of [...waiting].sort((one, other) => one.expiresAt - other.expiresAt)) {
    const { session } = approval.request
    const known = groups.get(session)
    if (known === undefined) groups.set(session, [approval])
    else known.push(approval)
  }
  return [...groups].map(([session, approvals]) => ({ session, approvals }))
}

/**
 * Whether one answer may be meant for both: the same tool asks in the same session for the same reason, and what they would do reads alike but for names
 * and figures. Dangerous calls are answered one by one.
 */
export function isAlike(one: PendingApproval, other: PendingApproval): boolean {
  return !one.request.dangerous && likenessOf(one) === likenessOf(other)
}

function likenessOf({ tenant, request }: PendingApproval): string {
  const { session, tool, dangerous, ran, because, preview } = request
  const words = preview.title.split(/\s+/).filter((word) => /^\p{L}+[:,.]?$/u.test(word))
  return JSON.stringify([
    tenant,
    session,
    tool,
    dangerous,
    ran,
    because.layer,
    because.rule,
    preview.kind,
    words,
  ])
}
