/** Whether a record is of a session with an id of its own: those that Handrail makes begin with "ses_". Only so written a query has the index of these. */
export const hasOwnSession = `("session" < 'ses_' or "session" >= 'ses\`')`

/** The same of the id of a session. */
export function isOwnSession(session: string | undefined): session is string {
  return session !== undefined && !session.startsWith('ses_')
}
