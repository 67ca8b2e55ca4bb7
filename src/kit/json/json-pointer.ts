import { isObject } from './is-object.ts'

/** Appends one token to an RFC 6901 pointer. */
export function pointerTo(parent: string, token: string | number): string {
  return `${parent}/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The tokens of an RFC 6901 pointer. */
export function parsePointer(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** What an RFC 6901 pointer leads to; undefined if there is nothing. */
export function valueAt(value: unknown, pointer: string): unknown {
  let place = value
  for (const token of parsePointer(pointer)) {
    if (!isObject(place) || !Object.hasOwn(place, token)) return undefined
    place = place[token]
  }
  return place
}
