import type { Artifact } from '../contract/result.ts'
import type { CapturedOutput } from '../contract/sandbox.ts'

/** A longer run of letters without a blank is no word that could be a secret. */
const longestWord = 4096

/** The end of a private key whose start was cut off. */
const restOfKey = /^[A-Za-z0-9+/=\s\\]{0,16384}-----END [A-Z ]{0,30}PRIVATE KEY-----/

/** The same without the words that were cut in two: half of a secret would be found by nobody. */
export function inWholeWords(captured: CapturedOutput): CapturedOutput {
  const { head, tail, truncated } = captured
  return truncated ? { ...captured, head: withoutLastWord(head), tail: withoutFirstWord(tail) } : captured
}

/** What was kept as one text, with a line where something was left out. */
export function joinCaptured({ head, tail, bytes, truncated, artifact }: CapturedOutput): string {
  if (!truncated) return head + tail
  const left = bytes - Buffer.byteLength(head) - Buffer.byteLength(tail)
  const where = artifact === undefined ? '' : whereKept(artifact)
  return `${head}\n… ${Math.max(0, left)} of ${bytes} bytes left out here${where} …\n${tail}`
}

function whereKept({ digest, bytes, truncated }: Artifact): string {
  return truncated === true
    ? `; its first ${bytes} bytes are artifact ${digest}, and what came later was not kept`
    : `; the whole is artifact ${digest}`
}

/** The end of what a program complained about, in at most 500 letters. */
export function lastWords({ head, tail }: CapturedOutput): string {
  const said = (head + tail).trim()
  return said.length <= 500 ? said : withoutFirstWord(said.slice(-500)).trimStart().toWellFormed()
}

/** What comes in pieces, in whole words. Give the rest back with the next piece. */
export function splitLastWord(text: string): { whole: string; rest: string } {
  const whole = withoutLastWord(text)
  return { whole, rest: text.slice(whole.length) }
}

function withoutLastWord(text: string): string {
  let end = text.length
  while (end > 0 && text.length - end < longestWord && /\S/.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

function withoutFirstWord(text: string): string {
  const rest = text.replace(restOfKey, '')
  const blank = rest.slice(0, longestWord).search(/\s/)
  return rest.slice(blank < 0 ? longestWord : blank)
}
