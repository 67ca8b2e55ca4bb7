/** Whether a record is of a session with an id of its own: those that Handrail makes begin with "ses_". */
export const hasOwnSession = `("session" < 'ses_' or "session" >= 'ses\`')`
