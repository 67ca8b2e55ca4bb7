import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'

/** A package, or the folder of one, that cannot be used. */
export function capletFault(place: string, message: string): SetupError {
  return new SetupError('invalid_caplet', `"${place}" is not taken. ${message}`)
}

/** Issues of a `caplet.json` in words, each with its pointer. */
export function describeFaults(issues: readonly Issue[]): string {
  return issues.map(({ pointer, message }) => `${pointer === '' ? '/' : pointer}: ${message}`).join(' ')
}
