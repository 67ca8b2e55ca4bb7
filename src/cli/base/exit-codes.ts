import type { ToolResult } from '../../contract/base/result.ts'

/** What the process ends with; one that a signal ended, with 128 and the number of that. */
export const exitCodes = { ok: 0, toolError: 1, usage: 2, denied: 3 } as const

/** The exit code that says how a call ended. */
export function exitCodeOf(result: ToolResult): number {
  if (result.ok) return exitCodes.ok
  return result.outcome === 'denied' ? exitCodes.denied : exitCodes.toolError
}
