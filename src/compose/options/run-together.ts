import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'

/**
 * Runs both, and returns what both returned. If one throws a SetupError, throws that; if both do, throws one with all their
 * issues, so that the operator need not mend and start again to see the rest.
 */
export function runTogether<A, B>(first: () => A, second: () => B): [A, B] {
  const left = attempt(first)
  const right = attempt(second)
  if (!('error' in left)) {
    if ('error' in right) throw right.error
    return [left.value, right.value]
  }
  if (!('error' in right)) throw left.error
  const issues = [...issuesOf(left.error), ...issuesOf(right.error)]
  throw new SetupError('invalid_options', 'Nothing was started:', issues)
}

function attempt<T>(run: () => T): { value: T } | { error: SetupError } {
  try {
    return { value: run() }
  } catch (error) {
    if (error instanceof SetupError) return { error }
    throw error
  }
}

/** Its issues, or itself as one. */
export function issuesOf(error: SetupError): readonly Issue[] {
  return error.issues.length > 0 ? error.issues : [{ pointer: '', code: error.code, message: error.message }]
}
