import type { StoredRecord } from '../../../contract/evidence.ts'
import { isOwnSession } from '../../own-session.ts'

/** What stands in the place of the text of a record that is in a pack: what the indexes need of it. */
export function stubOf({ kind, session, call }: Pick<StoredRecord, 'kind' | 'session' | 'call'>): string {
  // That of most calls, written so as none of these names has a letter that JSON escapes.
  if (session.startsWith('ses_') && /^[\w.:-]+$/.test(call)) return `{"kind":"${kind}","call":"${call}"}`
  const ofSession = isOwnSession(session) ? `,"session":${JSON.stringify(session)}` : ''
  const ofCall = call === '' ? '' : `,"call":${JSON.stringify(call)}`
  return `{"kind":"${kind}"${ofSession}${ofCall}}`
}
