import { replaceHidden } from './hidden-characters.ts'

/** Text without invisible characters. Line breaks are `\n`. */
export function dropInvisible(text: string): string {
  return replaceHidden(text.replaceAll(/\r\n?|[\u2028\u2029]/g, '\n'), () => '')
}
