import type { IsolatedProgram, ProgramState } from '../../contract/services/isolates.ts'

/**
 * What the thread of programs is told: the first message of a program starts it, the others answer its calls. Replies are the JSON text of a list:
 * text goes from thread to thread, and into an engine, at less cost than objects.
 */
export type ToThread =
  | { readonly type: 'start'; readonly program: IsolatedProgram }
  | { readonly type: 'replies'; readonly replies: string }

/** What the thread says once it can run programs. */
export interface ThreadReady {
  readonly type: 'ready'
}

/** How far a program came; calls are the JSON text of a list of pairs, of name and input. */
export type ThreadState =
  | Exclude<ProgramState, { type: 'calls' }>
  | { readonly type: 'calls'; readonly calls: string }

/** What the thread says of a program: how far it came, with the milliseconds that it computed so far. */
export type FromThread = ThreadState & { readonly computedMs: number }

/** Whether a program ended by itself, so that another one may follow it. What filled or broke its engine may have harmed more than its memory. */
export function leavesWhole(state: ThreadState): boolean {
  return (
    state.type === 'ended' ||
    (state.type === 'failed' && (state.fault === 'thrown' || state.fault === 'syntax'))
  )
}
