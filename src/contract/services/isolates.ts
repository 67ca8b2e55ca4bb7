import type { Json } from '../base/json.ts'

/** What a program may take at most. */
export interface ProgramBounds {
  /** Of its heap. */
  readonly memoryBytes: number
  /** Milliseconds that it computes, without those that its calls take. */
  readonly computeMs: number
  /** Calls of tools. */
  readonly calls: number
  /** Characters of the input of one call. */
  readonly inputLength: number
  /** Characters of all that it prints. */
  readonly printedLength: number
  /** Characters of what it returns, as JSON text. */
  readonly returnedLength: number
}

/** A program of a model, and all that it can know of the world. */
export interface IsolatedProgram {
  /** The body of an asynchronous function, in JavaScript or TypeScript. */
  readonly code: string
  /** What its clock shows, in milliseconds since the epoch. It stands still. */
  readonly at: number
  /** What its random numbers follow from. */
  readonly seed: string
  readonly bounds: ProgramBounds
}

/** A call of a tool that a program makes: the name that it used, and the JSON text of the input. */
export interface ProgramCall {
  readonly name: string
  readonly input: string
}

/** What a call returns to its program: a value, or what the program can catch. */
export type ProgramReply =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly error: { readonly message: string; readonly [field: string]: Json } }

/** Why a program ended without an answer. `thrown`: it threw; the others are its bounds and its form. */
export type ProgramFault = 'syntax' | 'thrown' | 'time' | 'memory' | 'returned' | 'stuck' | 'crashed'

/** How far a program came. */
export type ProgramState =
  | { readonly type: 'calls'; readonly calls: readonly ProgramCall[] }
  /** `value` is JSON text; absent if it returned nothing. */
  | { readonly type: 'ended'; readonly value?: string; readonly printed: string }
  | {
      readonly type: 'failed'
      readonly fault: ProgramFault
      readonly message: string
      /** Of the program, counted from 1. */
      readonly line?: number
      readonly printed: string
    }

/** A program under way. */
export interface RunningProgram {
  /**
   * Hands in one reply for each call of the state before, and resolves when the program can go no further without others. Rejects with the reason of
   * its signal if that is aborted.
   */
  next(replies?: readonly ProgramReply[]): Promise<ProgramState>
  /** Ends it at once, whatever it does. */
  close(): void
}

/** Runs programs that reach nothing but what is handed to them. */
export interface Isolates {
  /** Programs of two tenants never share a thread. */
  open(program: IsolatedProgram, about: { tenant: string; signal: AbortSignal }): RunningProgram
  close(): Promise<void>
}
