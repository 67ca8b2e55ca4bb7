import type { StoredRecord } from '../../../contract/evidence.ts'
import { isOwnSession } from '../../own-session.ts'

/** What stands in the place of the text of a record that is in a pack: what the indexes need of it. */
export function stubOf({ kind, session, call }: Pick<StoredRecord, 'kind' | 'session' | 'call'>): string {
  const ofSession = isOwnSession(session) ? `,"session":${quote(session)}` : ''
  const ofCall = call === '' ? '' : `,"call":${quote(call)}`
  return `{"kind":"${kind}"${ofSession}${ofCall}}`
}

/** Nearly all names have no letter that JSON escapes. */
function quote(name: string): string {
  return /^[\w.:-]*$/.test(name) ? `"${name}"` : JSON.stringify(name)
}
