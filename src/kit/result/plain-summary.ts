import type { CallError } from '../../contract/base/errors.ts'

/** The summary of a result whose tool gave none. */
export function plainSummary(tool: string, error: Pick<CallError, 'reason'> | undefined): string {
  return `${tool}: ${error === undefined ? 'done' : error.reason}`
}
