import type { Issue } from '../../contract/base/json.ts'
import { pointerTo } from './json-pointer.ts'
import { nearestNames } from '../text/nearest-names.ts'

/** An issue for every field that does not exist, with the one that is meant by that name elsewhere, or the nearest one. */
export function findUnknownFields(
  given: object,
  known: readonly string[],
  elsewhere: ReadonlyMap<string, string> = new Map(),
): Issue[] {
  return Object.keys(given)
    .filter((field) => !known.includes(field))
    .map((field) => {
      const meant = elsewhere.get(field)
      const advice =
        meant !== undefined && known.includes(meant) ? `; here it is "${meant}".` : nearestTo(field, known)
      return {
        pointer: pointerTo('', field),
        code: 'unknown_field',
        message: `There is no field "${field}"${advice}`,
      }
    })
}

function nearestTo(field: string, known: readonly string[]): string {
  const [nearest] = nearestNames(field, known, 1)
  return nearest === undefined ? '; take it out.' : `; did you mean "${nearest}"?`
}
