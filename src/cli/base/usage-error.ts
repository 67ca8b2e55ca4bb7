/** The command line itself is wrong: what, and how it would be right. Ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
