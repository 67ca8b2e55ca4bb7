/**
 * Text as a person can trust what they see: control characters become their visible symbols and characters that reorder or hide
 * text become `<U+202E>` and the like. Tabs and line endings stay.
 */
export function showControls(text: string): string {
  return text.replace(hidden, (letter) => {
    const code = letter.codePointAt(0) ?? 0
    if (code < 0x20) return String.fromCodePoint(0x2400 + code)
    if (code === 0x7f) return '\u2421'
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
  })
}

/** Controls but for tab, LF and the CR of a CRLF; bidirectional controls, invisible letters, tag characters. */
const hidden =
  // oxlint-disable-next-line no-control-regex
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n|$)|[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu
