import type { SandboxRules } from './sandbox-rules.ts'

/** What the worker that writes sandboxes is told. */
export type WriterAsk =
  | { readonly ask: 'write'; readonly id: number; readonly rules: SandboxRules }
  | { readonly ask: 'end' }

/** What it says: once what the library lets every command write, then a sandbox, or why there is none, for each that was asked for. */
export type WriterWords =
  | { readonly says: 'ready'; readonly unasked: readonly string[] }
  | { readonly says: 'written'; readonly id: number; readonly sandbox: readonly string[] }
  | { readonly says: 'failed'; readonly id: number; readonly message: string }
