import { replaceHidden } from './hidden-characters.ts'

/**
 * Text as a person can trust what they see: control characters become their visible symbols and characters that reorder or hide
 * text become `<U+202E>` and the like. Tabs and line endings stay.
 */
export function showControls(text: string): string {
  return replaceHidden(text, toSymbol)
}

function toSymbol(letter: string): string {
  const code = letter.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return '\u2421'
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}

/** The same for what must stay on its line, such as a title. */
export function showControlsInLine(text: string): string {
  return showControls(text).replaceAll(/\r?\n|\r/g, '␊')
}
