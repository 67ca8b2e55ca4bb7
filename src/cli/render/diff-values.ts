import type { Json } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'

/** A place where two values are not the same. What is not there at all is undefined. */
export interface Difference {
  /** RFC 6901. */
  readonly pointer: string
  readonly was: Json | undefined
  readonly is: Json | undefined
}

/** Every place where two values differ, as deep as both have it. Lists of other lengths differ as a whole. */
export function diffValues(was: Json | undefined, is: Json | undefined, pointer = ''): Difference[] {
  const pairs = pairUp(was, is)
  if (pairs !== undefined)
    return pairs.flatMap(([token, before, after]) => diffValues(before, after, pointerTo(pointer, token)))
  return was === is ? [] : [{ pointer, was, is }]
}

type Pair = readonly [token: string | number, was: Json | undefined, is: Json | undefined]

/** What lies below both; undefined if one is not a container, or not the same kind of one. */
function pairUp(was: Json | undefined, is: Json | undefined): Pair[] | undefined {
  if (Array.isArray(was) && Array.isArray(is))
    return was.length === is.length ? was.map((each, index) => [index, each, is[index]]) : undefined
  // What a JSON value has below it are JSON values.
  if (!isPlainObject(was) || !isPlainObject(is)) return undefined
  const names = new Set([...Object.keys(was), ...Object.keys(is)])
  return [...names].map((name) => [name, ownValue(was, name), ownValue(is, name)])
}

function ownValue(value: { readonly [name: string]: Json }, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined
}
