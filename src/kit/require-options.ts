import { SetupError } from '../contract/base/errors.ts'

/** What a function was called with. Throws a SetupError if that is not an object: its options stand in one. */
export function requireOptions<Options>(given: Options, of: string): Options {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given
  const kind = given === null ? 'null' : Array.isArray(given) ? 'a list' : `a value of type ${typeof given}`
  throw new SetupError('invalid_options', `${of} takes an object, and was called with ${kind}.`)
}
