import type { Json, JsonObject } from '../../contract/base/json.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'

/** A place in a JSON value that can be written to. */
export interface Place {
  readonly holder: JsonObject | Json[]
  readonly key: string
  /** RFC 6901, from the top of the value. */
  readonly pointer: string
}

/** The place of a whole value: in a box, so that it can be written to as well. */
export function toRoot(value: Json): Place {
  return { holder: { value }, key: 'value', pointer: '' }
}

export function read({ holder, key }: Place): Json | undefined {
  return Object.hasOwn(holder, key) ? Reflect.get(holder, key) : undefined
}

/** A member named `__proto__` is taken out: writing to it would change something else. */
export function write(place: Place, value: Json): void {
  if (place.key === '__proto__') remove(place)
  else Reflect.set(place.holder, place.key, value)
}

export function remove({ holder, key }: Place): void {
  Reflect.deleteProperty(holder, key)
}

/** The places of all members or items of a value. */
export function childrenOf(place: Place): Place[] {
  const value = read(place)
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value).map((key) => ({ holder: value, key, pointer: pointerTo(place.pointer, key) }))
}
