import { SetupError } from '../../contract/base/errors.ts'
import type { Fault } from '../../contract/base/json.ts'

/**
 * Runs both, and returns what both returned. If one throws a SetupError, throws that; if both do, throws one with all their
 * faults, so that the operator need not mend and start again to see the rest.
 */
export function runTogether<A, B>(first: () => A, second: () => B): [A, B] {
  const left = attempt(first)
  const right = attempt(second)
  if (!('error' in left)) {
    if ('error' in right) throw right.error
    return [left.value, right.value]
  }
  if (!('error' in right)) throw left.error
  const faults = [...faultsOf(left.error), ...faultsOf(right.error)]
  throw new SetupError('invalid_options', 'Nothing was started:', faults)
}

function attempt<T>(run: () => T): { value: T } | { error: SetupError } {
  try {
    return { value: run() }
  } catch (error) {
    if (error instanceof SetupError) return { error }
    throw error
  }
}

/** Its faults, or itself as one. */
export function faultsOf(error: SetupError): readonly Fault[] {
  return error.faults.length > 0 ? error.faults : [{ pointer: '', code: error.code, message: error.message }]
}
