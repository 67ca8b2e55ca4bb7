import { ToolFailure } from '../../contract/base/errors.ts'

/** Whether a write was refused because a fact is not what it was expected to be: another writer was faster. */
export function isFactChanged(error: unknown): boolean {
  return error instanceof ToolFailure && error.reason === 'fact_changed'
}
