import { setImmediate } from 'node:timers/promises'

/** A person at a terminal. One thing is asked at a time. */
export interface Terminal {
  /** Talks with the person when they are free. Rejects where the signal is aborted before that ends. */
  talk<T>(signal: AbortSignal, talk: (person: Person) => Promise<T>): Promise<T>
}

/** Whom a talk is with. */
export interface Person {
  show(text: string): void
  /** The line that they type after they see the prompt; undefined where they end the talk, with Ctrl-D, or with Ctrl-C where that aborts nothing. */
  ask(prompt: string): Promise<string | undefined>
}

/** The terminal of this process; undefined where it has none, so that nobody is asked. Ctrl-C calls `onInterrupt`, and ends the talk. */
export function openTerminal(onInterrupt: () => void): Terminal | undefined {
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
        // First, so that a call which this aborts is not denied instead.
        onInterrupt()
        resolve(undefined)
      })
    })
    return await talk({
      show: (text) => void process.stderr.write(text),
      async ask(prompt) {
        // The first time too: half a line comes only now, as the terminal kept it for the end of the line.
        await readAllThatWaits()
        if (lines.line !== '') lines.write(null, { ctrl: true, name: 'u' })
        return Promise.race([lines.question(prompt, { signal }), ended])
      },
    })
  } finally {
    lines.close()
  }
}

/** What was typed before the question was on the screen is no answer to it. */
async function dropTypedAhead(): Promise<void> {
  process.stdin.resume()
  await readAllThatWaits()
  process.stdin.pause()
}

/** One turn of the loop starts the reading, the next one reads all that waits. */
async function readAllThatWaits(): Promise<void> {
  await setImmediate()
  await setImmediate()
}
