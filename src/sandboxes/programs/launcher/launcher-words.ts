import type { Exit, Seen, StartRequest } from './started.ts'

/** What the launcher is told: once where to connect to, then what to start. Numbers are given by the one who asks. */
export type Ask = Greeting | StartAsk

export interface Greeting {
  readonly ask: 'greet'
  readonly secret: string
  /** The path of the socket that streams are made at. */
  readonly socket: string
}

/** Paths in it are not relative to `/proc/self`. */
export interface StartAsk {
  readonly ask: 'start'
  readonly id: number
  readonly request: StartRequest
}

/** What the launcher tells. */
export type Tell =
  | {
      readonly tell: 'started'
      readonly id: number
      readonly pid: number
      readonly seen?: Seen | undefined
      /** Keys of the connections that are its standard input, where it was asked for, its output, its errors, and its pipes. */
      readonly keys: readonly string[]
    }
  | { readonly tell: 'failed'; readonly id: number; readonly code: string; readonly message: string }
  | ({ readonly tell: 'ended'; readonly id: number } & Pick<Exit, 'exitCode' | 'signal' | 'cpuMs'>)

/** A connection starts with its key: the secret, and a number of this many digits. Any byte is the answer that it is accepted. */
export const keyDigits = 12
