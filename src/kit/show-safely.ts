/**
 * Text that cannot drive a terminal or deceive who reads it: control characters, bidirectional controls and invisible letters become
 * visible codes. Tabs and line feeds stay.
 */
export function showSafely(text: string): string {
  return text.replace(hidden, (letter) => `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`)
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
  return JSON.stringify(value, null, indent).replace(hidden, escape)
}

const hidden =
  // oxlint-disable-next-line no-control-regex -- these are the very characters that must not reach a terminal
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu
