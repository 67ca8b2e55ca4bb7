/** The entries of a list of tools, which has commas or spaces between them. What stands in brackets divides nothing. */
export function splitTools(text: string): string[] {
  const entries: string[] = []
  let entry = ''
  let depth = 0
  for (const character of text) {
    if (character === '(') depth++
    if (character === ')' && depth > 0) depth--
    if (depth === 0 && /[\s,]/.test(character)) {
      entries.push(entry)
      entry = ''
    } else entry += character
  }
  return [...entries, entry].filter((each) => each !== '')
}
