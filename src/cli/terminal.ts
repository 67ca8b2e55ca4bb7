import { setImmediate } from 'node:timers/promises'

/** A person at a terminal. One thing is asked at a time. */
export interface Terminal {
  /** Talks with the person when they are free. Rejects where the signal is aborted before that ends. */
  talk<T>(signal: AbortSignal, talk: (person: Person) => Promise<T>): Promise<T>
}

/** Whom a talk is with. */
export interface Person {
  show(text: string): void
  /** The line that they type; undefined where they end the talk, with Ctrl-D or Ctrl-C. */
  ask(prompt: string): Promise<string | undefined>
}

/** The terminal of this process; undefined where it has none, so that nobody is asked. Ctrl-C calls `onInterrupt` too. */
export function openTerminal(onInterrupt: () => void = () => {}): Terminal | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  let last: Promise<unknown> = Promise.resolve()
  return {
    talk(signal, talk) {
      const done = last.then(() => talkTo(signal, { talk, onInterrupt }))
      last = done.catch(() => {})
      return done
    },
  }
}

async function talkTo<T>(
  signal: AbortSignal,
  { talk, onInterrupt }: { talk: (person: Person) => Promise<T>; onInterrupt: () => void },
): Promise<T> {
  signal.throwIfAborted()
  await dropTypedAhead()
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const ended = new Promise<undefined>((resolve) => {
      lines.once('close', () => resolve(undefined))
      lines.once('SIGINT', () => {
        process.stderr.write('\n')
        resolve(undefined)
        onInterrupt()
      })
    })
    return await talk({
      show: (text) => void process.stderr.write(text),
      ask: (prompt) => Promise.race([lines.question(prompt, { signal }), ended]),
    })
  } finally {
    lines.close()
  }
}

/** What was typed before the question was on the screen is no answer to it. */
async function dropTypedAhead(): Promise<void> {
  process.stdin.resume()
  // One turn of the loop starts the reading, the next one reads all that waits.
  await setImmediate()
  await setImmediate()
  process.stdin.pause()
}
