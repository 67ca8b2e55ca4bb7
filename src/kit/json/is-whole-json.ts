/** Whether a text is JSON of an object or list as a whole, as the input of a call is that was not cut off. */
export function isWholeJson(text: unknown): boolean {
  if (typeof text !== 'string') return false
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}
