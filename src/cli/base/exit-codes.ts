import type { RunEndReason } from '../../contract/agent-run.ts'
import type { ToolResult } from '../../contract/base/result.ts'

/** What the process ends with; one that a signal ended, with 128 and the number of that. */
export const exitCodes = {
  ok: 0,
  toolError: 1,
  usage: 2,
  denied: 3,
  waiting: 4,
  usedUp: 5,
  interrupted: 130,
} as const

/** The exit code that says how a call ended. */
export function exitCodeOf(result: ToolResult): number {
  if (result.ok) return exitCodes.ok
  return result.outcome === 'denied' ? exitCodes.denied : exitCodes.toolError
}

/** The exit code that says why a run ended. */
export const exitCodeOfRun: { readonly [reason in RunEndReason]: number } = {
  completed: exitCodes.ok,
  failed: exitCodes.toolError,
  approval_pending: exitCodes.waiting,
  max_turns: exitCodes.usedUp,
  budget_exceeded: exitCodes.usedUp,
  aborted: exitCodes.interrupted,
  aborted_tools: exitCodes.interrupted,
}
