import { replaceHidden } from './hidden-characters.ts'

/**
 * Text that cannot drive a terminal or deceive who reads it: control characters, bidirectional controls and invisible letters become
 * visible codes. Tabs and line feeds stay.
 */
export function showSafely(text: string): string {
  // A carriage return goes back to the start of its line, whatever follows it.
  return replaceHidden(text, toCode).replaceAll('\r', toCode('\r'))
}

function toCode(letter: string): string {
  return `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`
}

/** The same for text that must stay on its line. */
export function showLine(text: string): string {
  return showSafely(text).replaceAll('\n', '\\n')
}

/** JSON of a value in which such characters stand as escapes: for programs it says the same, and a terminal is safe from it. */
export function showJson(value: unknown, indent = 2): string {
  const escape = (letter: string): string =>
    letter
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('')
  return replaceHidden(JSON.stringify(value, null, indent), escape)
}
