import type { Fault } from '../contract/json.ts'
import { pointerTo } from '../kit/json-pointer.ts'
import { nearestNames } from '../kit/nearest-names.ts'

/** A fault for every field that does not exist, with the nearest one that does. */
export function findUnknownFields(given: object, known: readonly string[]): Fault[] {
  return Object.keys(given)
    .filter((field) => !known.includes(field))
    .map((field) => {
      const nearest = nearestNames(field, known, 1)[0]
      return {
        pointer: pointerTo('', field),
        code: 'unknown_field',
        message: `There is no field "${field}"${nearest === undefined ? '; take it out.' : `; did you mean "${nearest}"?`}`,
      }
    })
}
