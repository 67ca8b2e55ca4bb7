import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import { pointerTo } from './json-pointer.ts'

interface Kind {
  readonly name: string
  readonly has: (value: unknown) => boolean
}

const functions: Kind = { name: 'a function', has: (value) => typeof value === 'function' }
const lists: Kind = { name: 'a list', has: Array.isArray }

/** An issue for each of these fields that is there and is not a function. */
export function findNoFunctions(given: object, fields: readonly string[]): Issue[] {
  return findOthers(given, fields, functions)
}

/** An issue for each of these fields that is there and is not a list. */
export function findNoLists(given: object, fields: readonly string[]): Issue[] {
  return findOthers(given, fields, lists)
}

function findOthers(given: object, fields: readonly string[], { name, has }: Kind): Issue[] {
  return fields.flatMap((field) => {
    const value: unknown = Reflect.get(given, field)
    if (value === undefined || has(value)) return []
    return [{ pointer: pointerTo('', field), code: 'wrong_type', message: `"${field}" has to be ${name}.` }]
  })
}

/** What a function was called with. Throws a SetupError if that is not an object: its options stand in one. */
export function requireOptions<Options>(given: Options, of: string): Options {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given
  const kind = given === null ? 'null' : Array.isArray(given) ? 'a list' : `a value of type ${typeof given}`
  throw new SetupError('invalid_options', `${of} takes an object, and was called with ${kind}.`)
}
