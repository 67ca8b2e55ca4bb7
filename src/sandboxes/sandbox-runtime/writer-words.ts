import type { SandboxRules } from './sandbox-rules.ts'

/** What the worker that writes sandboxes is told. */
export type WriterAsk =
  | { readonly ask: 'write'; readonly id: number; readonly rules: SandboxRules }
  | { readonly ask: 'end'; readonly id: number }

/** What it says: once what the library lets every command write, then of each that was asked for a sandbox, or why there is none, or that it
 * is cleared away. */
export type WriterWords =
  | { readonly says: 'ready'; readonly unasked: readonly string[] }
  | { readonly says: 'written'; readonly id: number; readonly sandbox: readonly string[] }
  | { readonly says: 'ended'; readonly id: number }
  | { readonly says: 'failed'; readonly id: number; readonly message: string }
