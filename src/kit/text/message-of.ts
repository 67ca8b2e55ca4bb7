/** What something that was thrown says of itself; it may be anything, hostile too. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown)
  } catch {
    return 'something was thrown that cannot be read'
  }
}
