import type { Json } from '../base/json.ts'

/** The most that a program can be given, by field. */
export const mostProgramLimits = { computeMs: 600_000, memoryMb: 1_024, calls: 100_000 } as const

/** What one program may take. */
export interface ProgramLimits {
  /** Milliseconds that it computes, without the time of its calls. Default 10,000. */
  readonly computeMs?: number
  /** Megabytes of its memory. Default 64. */
  readonly memoryMb?: number
  /** Calls of tools. Default 500. */
  readonly calls?: number
}

/** What came of a program. */
export interface ProgramReport {
  /** Undefined if it returned nothing. */
  readonly returned: Json | undefined
  /** What it printed with `console.log`. */
  readonly printed: string
  /** Calls of tools that it made. */
  readonly calls: number
}

/** Runs programs that call the tools of the session. Each of their calls is decided, approved and recorded as any other one. */
export interface CodeMode {
  /**
   * Runs the body of an asynchronous function. One that waited for a person, or was cut off, goes on if it is run again in the same session: no call is repeated that was
   * made. Rejects with a `ToolFailure`: `POLICY.APPROVAL_PENDING`, `program_failed`, `program_limit`, `program_stale`, `program_taken`, `nested_program`.
   */
  run(code: string, limits?: ProgramLimits): Promise<ProgramReport>
  /** TypeScript declarations of the tools that a program can call: all, or those whose names match one of these patterns. The same tools give the same text. */
  declare(patterns?: readonly string[]): string
}
