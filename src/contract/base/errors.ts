import type { Issue, Json } from './json.ts'
import type { Actor, errorTable, NextStep } from '../errors/error-table.ts'
import type { SetupErrorCode } from '../errors/setup-errors.ts'

/** A stable error code. */
export type ErrorCode = keyof typeof errorTable

/** Why a call did not succeed. `code` and `reason` are for programs, `message` for people and models. */
export interface CallError {
  code: ErrorCode
  reason: string
  /** What happened, to which thing, and what to do now. Never parse it. */
  message: string
  actor: Actor
  next: NextStep
  /** The issues of an input or output, each with its pointer. */
  issues?: readonly Issue[]
  /** Facts for programs, such as the nearest tool names. */
  data?: { readonly [key: string]: Json }
}

/**
 * Throw it inside a tool, a plan or a sandbox to end the call with this code and reason.
 * Anything else that is thrown there becomes `TOOL.FAILED / failed`.
 */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
  readonly code: ErrorCode
  readonly reason: string
  /** What is wrong with a value, each with its pointer. */
  readonly issues: readonly Issue[] | undefined
  readonly data: { readonly [key: string]: Json } | undefined

  constructor(failure: {
    code?: ErrorCode
    reason: string
    message: string
    issues?: readonly Issue[]
    data?: { readonly [key: string]: Json }
  }) {
    super(failure.message)
    this.code = failure.code ?? 'TOOL.FAILED'
    this.reason = failure.reason
    this.issues = failure.issues
    this.data = failure.data
  }
}

/** Thrown at start-up and registration, never during a call: everything that is wrong, at once. */
export class SetupError extends Error {
  override readonly name = 'SetupError'
  readonly code: SetupErrorCode
  readonly issues: readonly Issue[]

  constructor(code: SetupErrorCode, message: string, issues: readonly Issue[] = []) {
    super([message, ...issues.map((issue) => `  ${issue.pointer || '/'}: ${issue.message}`)].join('\n'))
    this.code = code
    this.issues = issues
  }
}
