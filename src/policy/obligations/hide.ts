/** What stands where a value was. */
export const redactedMark = '[redacted]'

/** What is done to a value or to an occurrence in a text. */
export type Hiding = 'redact' | 'mask'

/** The text as it may be shown: nothing of it, or its last four characters, where there are more than four. */
export function hideText(text: string, hiding: Hiding): string {
  if (hiding === 'redact' || text === redactedMark) return redactedMark
  const characters = Array.from(text)
  return characters.length <= 4 ? '****' : `****${characters.slice(-4).join('')}`
}
