import type { Redactor } from '../../kit/secrets/redact.ts'

/** Redacts text that comes in pieces, such as the answer of a model. */
export interface WordRedactor {
  /** What can be shown by now; a word that has not ended waits for the rest of it. */
  push(piece: string): string
  /** What still waits. */
  end(): string
}

/** A longer word is shown before it ends. */
const longestWord = 4_096

/** Makes one for one text. A token that has no space in it is found, whatever its pieces; no character is cut in half. */
export function createWordRedactor(redactor: Redactor): WordRedactor {
  let held = ''
  const release = (end: number): string => {
    const ready = held.slice(0, end)
    held = held.slice(end)
    return redactor.text(ready)
  }
  return {
    push(piece) {
      held += piece
      const end = endOfWords(held)
      return release(held.length - end > longestWord ? held.length : end)
    },
    end: () => release(held.length),
  }
}

/** Tokens are made of visible characters of ASCII; half a character waits too. */
function endOfWords(text: string): number {
  let end = text.length
  while (end > 0 && isOpen(text.charCodeAt(end - 1))) end -= 1
  return end
}

function isOpen(unit: number): boolean {
  return (unit > 0x20 && unit < 0x7f) || (unit >= 0xd800 && unit < 0xdc00)
}
