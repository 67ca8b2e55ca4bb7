import { closeSync, openSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { ReadStream } from 'node:tty'

/** A person at a terminal. One thing is asked at a time. */
export interface Terminal {
  /** Talks with the person when they are free. Rejects where the signal is aborted before that ends. */
  talk<T>(signal: AbortSignal, talk: (person: Person) => Promise<T>): Promise<T>
}

/** Whom a talk is with. */
export interface Person {
  show(text: string): void
  /** The line that they type after they see the prompt; undefined if they end the talk, with Ctrl-D, or with Ctrl-C where that aborts nothing. */
  ask(prompt: string): Promise<string | undefined>
  /** How many others wait for them. */
  waiting(): number
}

/**
 * The terminal of this process; undefined if it has none, so that no person is asked. Ctrl-C calls `onInterrupt`, and ends the talk. If
 * standard input is read for something else, `around` it the terminal itself is read.
 */
export function openTerminal(onInterrupt: () => void, { around = false } = {}): Terminal | undefined {
  if (!process.stderr.isTTY || !(around ? hasTerminal() : process.stdin.isTTY)) return undefined
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return {
    talk(signal, talk) {
      waiting += 1
      const done = last
        .then(() => talkTo(signal, { talk, onInterrupt, around, waiting: () => waiting - 1 }))
        .finally(() => (waiting -= 1))
      last = done.catch(() => {})
      return done
    },
  }
}

const device = '/dev/tty'

function hasTerminal(): boolean {
  try {
    closeSync(openSync(device, 'r'))
    return true
  } catch {
    return false
  }
}

interface Talk<T> {
  readonly talk: (person: Person) => Promise<T>
  readonly onInterrupt: () => void
  readonly around: boolean
  readonly waiting: () => number
}

async function talkTo<T>(signal: AbortSignal, { talk, onInterrupt, around, waiting }: Talk<T>): Promise<T> {
  signal.throwIfAborted()
  const input = around ? new ReadStream(openSync(device, 'r')) : process.stdin
  await dropTypedAhead(input)
  const { createInterface } = process.getBuiltinModule('node:readline/promises')
  const lines = createInterface({ input, output: process.stderr })
  let asks = false
  try {
    const ended = new Promise<undefined>((resolve) => {
      lines.once('close', () => {
        // What is said next begins on a line of its own.
        if (asks) process.stderr.write('\n')
        resolve(undefined)
      })
      lines.once('SIGINT', () => {
        asks = false
        process.stderr.write('\n')
        // First, so that a call which this aborts is not denied instead.
        onInterrupt()
        resolve(undefined)
      })
    })
    return await talk({
      show: (text) => void process.stderr.write(text),
      waiting,
      async ask(prompt) {
        // The first time too: half a line comes only now, as the terminal kept it for the end of the line.
        await readAllThatWaits()
        if (lines.line !== '') lines.write(null, { ctrl: true, name: 'u' })
        asks = true
        const line = await Promise.race([lines.question(prompt, { signal }), ended])
        asks = false
        return line
      },
    })
  } finally {
    asks = false
    lines.close()
    // Open, it would keep the process alive.
    if (around) input.destroy()
  }
}

/** What was typed before the question was on the screen is not an answer to it. */
async function dropTypedAhead(input: ReadStream): Promise<void> {
  input.resume()
  await readAllThatWaits()
  input.pause()
}

/** One turn of the loop starts the reading, the next one reads all that waits. */
async function readAllThatWaits(): Promise<void> {
  await setImmediate()
  await setImmediate()
}
