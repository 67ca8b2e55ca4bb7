import type { ToolFailure } from './errors.ts'

/** What is at a path. A special file is a device, a pipe or a socket. */
export type PathState =
  | { readonly kind: 'none' }
  | { readonly kind: 'special' }
  | { readonly kind: 'directory'; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string }
  | {
      readonly kind: 'file'
      readonly mode: number
      readonly bytes: number
      /** Of its content: `sha256:` and 64 hex digits. */
      readonly digest: string
    }

/** What a call makes of one path. */
export interface PathEffect {
  /** Absolute, links of its folder resolved. */
  readonly path: string
  readonly before: PathState
  readonly after: PathState
}

/** What a command made of one path. */
export interface FileEffect {
  /** Absolute. */
  readonly path: string
  readonly effect: 'created' | 'changed' | 'removed'
  /** What it is, or was if it is removed. */
  readonly kind: 'file' | 'directory' | 'link' | 'other'
  /** Bytes of a file as the command left it. */
  readonly bytes?: number
  /** What a link leads to, as the command left it. */
  readonly target?: string
  /** Permission bits as the command left them, and those before, if they differ. */
  readonly mode?: number
  readonly modeBefore?: number
  /** Whether a changed file holds what it held before: only its times or its permissions changed. */
  readonly sameContent?: boolean
}

/** Keeps what a call replaces or removes, so that it can be taken back. */
export interface EffectHistory {
  /**
   * Keeps a copy of what a file holds, which `open` reads from its start, before the file is replaced or removed. Resolves to false if there
   * is not enough room for it: then what becomes of this file cannot be taken back.
   */
  keep(file: { digest: string; bytes: number; open: () => AsyncIterable<Uint8Array> }): Promise<boolean>
  /** Notes effects, durably, before they come into force. */
  record(effects: readonly PathEffect[]): Promise<void>
}

/** What a program wrote, held back until it may land. */
export interface HeldChanges {
  /** Each path, also those below a removed folder. Each folder before what is in it. */
  effects(): Promise<readonly FileEffect[]>
  /** Of every path with its kind, mode and content as they would land: `sha256:` and 64 hex digits. */
  digest(): Promise<string>
  /** How the program ended, in a few words: `has run`, `failed (exit code 2)`. */
  readonly ended: string
  /** Whether any of it can land. */
  readonly canLand: boolean
  /** How the program ended and what it printed, for the person who decides. */
  readonly outcome: string
  /**
   * What a file would hold, and what it holds now, for the person who decides: undefined if there is none, it has more than `maxBytes`, or may not be
   * shown.
   */
  contents(
    path: string,
    maxBytes: number,
  ): Promise<{ before: Uint8Array | undefined; after: Uint8Array | undefined }>
}

/**
 * Whether what a program wrote may land. `drop`: it is not needed, and goes without a word. A failure says why nothing of it is kept, beside what the
 * program printed. Rejects if the call is not permitted at all, so that nothing that it printed may be shown either.
 */
export type PermitChanges = (held: HeldChanges) => Promise<'land' | 'drop' | ToolFailure>
