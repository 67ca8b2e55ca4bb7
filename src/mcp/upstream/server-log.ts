import { showSafely } from '../../kit/show-safely.ts'

/** The last of what a server said beside the protocol. */
export interface ServerLog {
  add(text: string): void
  /** Safe to show on a terminal. */
  read(): string
}

const maxLength = 16_384

/** An empty log. It keeps the end of what is added. */
export function createServerLog(): ServerLog {
  let kept = ''
  return {
    add(text) {
      kept = (kept + text.slice(-maxLength)).slice(-maxLength)
    },
    read: () => showSafely(kept.trimEnd()),
  }
}
