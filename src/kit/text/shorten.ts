/** The text; of a longer one its first `most` characters and "…". No character is cut in half. */
export function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}…` : text
}
