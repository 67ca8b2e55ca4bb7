/** Issues in one line, each with where it is and as a sentence. `top` is what has no pointer. */
export function listIssues(issues: readonly { pointer: string; message: string }[], top: string): string {
  return issues.map(({ pointer, message }) => `${pointer || top}: ${withStop(message)}`).join(' ')
}

function withStop(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`
}
