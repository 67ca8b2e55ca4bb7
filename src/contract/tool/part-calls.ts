import type { CallError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { ToolResult } from '../base/result.ts'
import type { ApprovalBinding } from '../base/approval-binding.ts'
import type { Operation, Preview } from './operation.ts'
import type { ToolDefinition } from './definition.ts'

/** A call that another one makes as a part of itself. */
export interface PartWish {
  /** Its name in the call that makes it; unique there. */
  readonly part: string
  /** Canonical name. */
  readonly tool: string
  readonly input: JsonObject
}

/** What would happen to a part now. */
export interface PartLook {
  readonly effect: 'allow' | 'ask' | 'deny'
  /** Why it would not run. */
  readonly error?: CallError
  readonly preview?: Preview
  readonly operations: readonly Operation[]
  /** What a yes to the preview is bound to. */
  readonly binding?: ApprovalBinding
}

/**
 * The calls that a call makes as parts of itself. Each takes the way of every call, for the same session: it is validated, decided, asked about and
 * recorded for itself, and what it returns is what any caller would get, redacted and as the obligations of the policy leave it.
 */
export interface PartCalls {
  /** The definition that the session would call; undefined if it has no such tool, or may not call it. */
  definition(tool: string): ToolDefinition | undefined
  /** What would happen to a part now. It has no effect. */
  look(wish: PartWish): Promise<PartLook>
  /**
   * Holds what these parts may spend at most, of every budget, until each is called or the call ends. Throws a `ToolFailure` if a budget has too
   * little for one of them; then nothing is held.
   */
  reserve(parts: readonly Pick<PartWish, 'part' | 'tool'>[]): void
  /** Calls a part. Never rejects for what happened to it. `seen`: what a person saw of it who said yes to the call itself; it counts for a composition alone. */
  call(wish: PartWish & { readonly seen?: ApprovalBinding | undefined }): Promise<ToolResult>
}
