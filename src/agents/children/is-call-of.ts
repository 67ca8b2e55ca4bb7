import type { OpenRun } from '../loop/run-state.ts'

/** Whether a run gave a call its id, which is of that call alone then: providers count from zero in each answer. */
export function isCallOf(run: OpenRun | undefined, toolCallId: string): run is OpenRun {
  return run !== undefined && toolCallId.startsWith(`${run.id}.`)
}
