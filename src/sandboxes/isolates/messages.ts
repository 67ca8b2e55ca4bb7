import type { IsolatedProgram, ProgramReply, ProgramState } from '../../contract/services/isolates.ts'

/** What the thread of programs is told: the first message of a program starts it, the others answer its calls. */
export type ToThread =
  | { readonly type: 'start'; readonly program: IsolatedProgram }
  | { readonly type: 'replies'; readonly replies: readonly ProgramReply[] }

/** What the thread says once it can run programs. */
export interface ThreadReady {
  readonly type: 'ready'
}

/** What the thread says of a program: how far it came, with the milliseconds that it computed so far. */
export type FromThread = ProgramState & { readonly computedMs: number }

/** Whether a program ended by itself, so that another one may follow it. What filled or broke its engine may have harmed more than its memory. */
export function leavesWhole(state: ProgramState): boolean {
  return (
    state.type === 'ended' ||
    (state.type === 'failed' && (state.fault === 'thrown' || state.fault === 'syntax'))
  )
}
