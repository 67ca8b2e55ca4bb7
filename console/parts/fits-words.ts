/** Whether a text has all words that a person typed, in any case and order. */
export function fitsWords(typed: string, text: string): boolean {
  const words = typed.toLowerCase().split(' ').filter(Boolean)
  return words.every((word) => text.toLowerCase().includes(word))
}
