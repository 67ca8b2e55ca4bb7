/** A sentence without its full stop, on its way into another sentence. */
export function withoutStop(text: string): string {
  return text.trim().replace(/\.$/, '')
}
