import { expect, vi } from 'vitest'
import { program, startProgram, type Place, type StartOptions } from './command-line.ts'

/** A person at a terminal in front of a program. */
export interface Terminal {
  /** What the screen was sent, without escape sequences. */
  screen(): string
  /** What the screen was sent. */
  raw(): string
  saw(text: string): Promise<void>
  /** The same for what comes after that which this saw before. */
  sawNext(text: string): Promise<void>
  type(text: string): void
  /** The exit code of the program. */
  readonly ended: Promise<number | null>
}

export const ctrlC = '\x03'
export const ctrlD = '\x04'

/**
 * Starts `handrail` in a pseudo terminal of its own, made by `script` of util-linux, which every Debian has. Where it is missing the
 * test fails and says so.
 */
export function openTerminal(place: Place, argv: readonly string[], options: StartOptions = {}): Terminal {
  const line = [options.command ?? process.execPath, program, ...argv].map(quote).join(' ')
  const running = startProgram(place, ['-q', '-e', '-c', `exec ${line}`, '/dev/null'], {
    ...options,
    command: 'script',
  })
  const screen = (): string => showScreen(running.output.stdout)
  let seen = 0
  return {
    screen,
    raw: () => running.output.stdout,
    saw: (text) => running.saw(text),
    async sawNext(text) {
      await vi.waitFor(() => expect(screen().slice(seen)).toContain(text))
      seen = screen().indexOf(text, seen) + text.length
    },
    type: (text) => void running.child.stdin.write(text),
    ended: running.ended.then(({ code }) => code),
  }
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

function showScreen(output: string): string {
  // oxlint-disable-next-line no-control-regex -- cursor movements of the line editor
  return output.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r\n', '\n')
}
