/**
 * What a file of a project, such as `AGENTS.md`, tells a person or model that works there. It is text that a third party wrote: nothing in
 * it allows a call or changes a rule, and a program that puts it before a model says whose it is.
 */
export interface InstructionBlock {
  /** Absolute, links resolved. */
  readonly path: string
  /** Directory for which it speaks, with all below. */
  readonly scope: string
  /** `sha256:` and 64 hex digits, of the text of the file. */
  readonly digest: string
  /** As the result showed it: without secrets, and treated as the policy obliges. At most 64 KiB. */
  readonly text: string
  /** Whether more follows in the file. */
  readonly truncated: boolean
  /** The call that read it, and when, in milliseconds since the epoch. */
  readonly call: string
  readonly at: number
}

/** Where a tool that read a file of instructions says so. */
export interface Instructions {
  /** Whether files of this name give instructions. */
  covers(path: string): boolean
  /**
   * Says that this call has read all of such a file. It is registered with the session when the call ends well, with the `content` of its
   * data as text.
   */
  found(file: Pick<InstructionBlock, 'path' | 'scope' | 'digest'>): void
}
