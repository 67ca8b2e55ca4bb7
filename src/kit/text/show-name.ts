import { hiddenCharacters } from './hidden-characters.ts'
import { showJson } from './show-safely.ts'

/**
 * The name of a file as a line of a list: itself, or in quotes as JSON writes it, if it has a line break or an invisible character, or
 * could be taken for such a text. No name passes for two, and JSON reads it back exactly.
 */
export function showName(name: string): string {
  if (/^[\x20\x23-\x7e][\x20-\x7e]*$/.test(name)) return name
  if (!name.startsWith('"') && !/[\t\r\n]/.test(name) && name.search(hiddenCharacters) < 0) return name
  return showJson(name, 0)
}
