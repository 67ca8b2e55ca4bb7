import type { Artifact } from '../../contract/base/result.ts'
import type { CapturedOutput } from '../../contract/services/sandbox.ts'

/** A longer text without the end of a line, or without a blank, is not a line or word that could be a secret. */
const longest = 4096

/** The end of a private key whose start was cut off. */
const restOfKey = /^[A-Za-z0-9+/=\s\\]{0,16384}-----END [A-Z ]{0,30}PRIVATE KEY-----/

/**
 * The same without the lines that were cut in two: no search finds half of a secret. Of a line that is longer than a
 * secret, what is left out is the word that was cut.
 */
export function inWholeLines(captured: CapturedOutput): CapturedOutput {
  const { head, tail, truncated } = captured
  return truncated ? { ...captured, head: withoutLastLine(head), tail: withoutFirstLine(tail) } : captured
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
  return said.length <= 500 ? said : withoutFirstLine(said.slice(-500)).trimStart().toWellFormed()
}

function withoutLastLine(text: string): string {
  const end = text.lastIndexOf('\n') + 1
  if (text.length - end < longest && end > 0) return text.slice(0, end)
  for (let at = text.length; at > 0 && text.length - at < longest; at--)
    if (/\s/.test(text.charAt(at - 1))) return text.slice(0, at)
  return text.slice(0, -longest)
}

function withoutFirstLine(text: string): string {
  const rest = text.replace(restOfKey, '')
  const start = rest.slice(0, longest)
  const cut = [start.indexOf('\n'), start.search(/\s/)].find((at) => at >= 0) ?? longest
  return rest.slice(cut)
}
