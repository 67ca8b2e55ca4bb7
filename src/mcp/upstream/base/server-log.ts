import { showLine, showSafely } from '../../../kit/text/show-safely.ts'

/** What came of one try to speak with a server, beside the protocol. */
export interface ServerLog {
  /** What it says on its standard error output, or what is wrong with its messages. */
  add(text: string): void
  /** A line of its standard output that is not a message. */
  addStray(line: string): void
  /** A host that its program asked for, and that it does not reach. */
  addRefused(host: string): void
  /** Its program is gone. `how` is a sentence. */
  end(how: string): void
  /** The last of all that, safe to show on a terminal. */
  read(): string
  /** At most so many of its lines that tell most of what went wrong. */
  readKeyLines(most: number): readonly string[]
  /** The first line of its standard output that is not a message, shortened and safe to show. */
  readonly stray: string | undefined
  /** The hosts that its program asked for and does not reach, as the guard of the network saw it. */
  readonly refused: readonly string[]
  /** How its program ended; undefined for one that runs, or that never started. */
  readonly ended: string | undefined
}

const maxLength = 16_384
const strayLength = 120
const lineLength = 200
/** Where in a program something went wrong is for its authors. */
const frame = /^at .*:\d+:\d+\)?( \{)?$/
const complaint =
  /error|cannot|can't|could not|fail|missing|required|must|denied|refused|not found|no such|no module|usage/i

/** An empty log. It keeps the end of what is added; what is read of it was redacted. */
export function createServerLog(redact: (text: string) => string = (text) => text): ServerLog {
  let kept = ''
  const refused = new Set<string>()
  let stray: string | undefined
  let ended: string | undefined
  const add = (text: string): void => {
    kept = (kept + text.slice(-maxLength)).slice(-maxLength)
  }
  return {
    add,
    addStray(line) {
      stray ??= showLine(redact(line).trim().slice(0, strayLength))
      add(`${line.slice(0, 1_000)}\n`)
    },
    addRefused: (host) => void refused.add(showLine(redact(host))),
    end(how) {
      ended = how
    },
    read: () => showSafely(redact(kept).trimEnd()),
    readKeyLines(most) {
      const lines = showSafely(redact(kept))
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '' && !frame.test(line))
      const keyLines = lines.filter((line) => complaint.test(line))
      return (keyLines.length > 0 ? keyLines : lines).slice(-most).map((line) => line.slice(0, lineLength))
    },
    get refused() {
      return [...refused]
    },
    get stray() {
      return stray
    },
    get ended() {
      return ended
    },
  }
}
