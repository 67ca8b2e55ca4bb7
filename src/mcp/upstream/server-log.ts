import { showLine, showSafely } from '../../kit/show-safely.ts'

/** What came of one try to speak with a server, beside the protocol. */
export interface ServerLog {
  /** What it says on its standard error output, or what is wrong with its messages. */
  add(text: string): void
  /** A line of its standard output that is no message. */
  addStray(line: string): void
  /** Its program is gone. `how` is a sentence. */
  end(how: string): void
  /** The last of all that, safe to show on a terminal. */
  read(): string
  /** The first line of its standard output that is no message, shortened and safe to show. */
  readonly stray: string | undefined
  /** How its program ended; undefined for one that runs, or that never started. */
  readonly ended: string | undefined
}

const maxLength = 16_384
const strayLength = 120

/** An empty log. It keeps the end of what is added. */
export function createServerLog(): ServerLog {
  let kept = ''
  let stray: string | undefined
  let ended: string | undefined
  const add = (text: string): void => {
    kept = (kept + text.slice(-maxLength)).slice(-maxLength)
  }
  return {
    add,
    addStray(line) {
      stray ??= showLine(line.trim().slice(0, strayLength))
      add(`${line.slice(0, 1_000)}\n`)
    },
    end(how) {
      ended = how
    },
    read: () => showSafely(kept.trimEnd()),
    get stray() {
      return stray
    },
    get ended() {
      return ended
    },
  }
}
