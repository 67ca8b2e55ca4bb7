import type { Fault } from '../contract/json.ts'
import { pointerTo } from './json-pointer.ts'

/** Deeper than this, a value counts as unserialisable. */
const maxDepth = 128

/**
 * The first thing in a value that JSON would lose or choke on: a BigInt, a function, a symbol, a cycle, a non-finite number, a Map,
 * a Date or any other object that is not plain, undefined inside an array. Undefined members of objects are fine: they are left out.
 * Gives undefined when the whole value is JSON.
 */
export function findUnserialisable(value: unknown): Fault | undefined {
  return inspect(value, '', [])
}

function inspect(value: unknown, pointer: string, above: object[]): Fault | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : fault(pointer, `the number ${value}`)
    case 'bigint':
      return fault(pointer, 'a BigInt; convert it to a string or a number')
    case 'undefined':
      return fault(pointer, 'undefined; use null or leave it out')
    case 'function':
      return fault(pointer, 'a function')
    case 'symbol':
      return fault(pointer, 'a symbol')
    case 'object':
      return value === null ? undefined : inspectObject(value, pointer, above)
  }
}

function inspectObject(value: object, pointer: string, above: object[]): Fault | undefined {
  if (above.includes(value)) return fault(pointer, 'a cycle: an object that contains itself')
  if (above.length >= maxDepth) return fault(pointer, `more than ${maxDepth} levels of nesting`)
  above.push(value)
  const found = Array.isArray(value)
    ? inspectItems(value, pointer, above)
    : inspectMembers(value, pointer, above)
  above.pop()
  return found
}

function inspectItems(items: readonly unknown[], pointer: string, above: object[]): Fault | undefined {
  for (let index = 0; index < items.length; index++) {
    const found = inspect(items[index], pointerTo(pointer, index), above)
    if (found !== undefined) return found
  }
  return undefined
}

function inspectMembers(value: object, pointer: string, above: object[]): Fault | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    const name = value.constructor?.name ?? 'an unknown class'
    return fault(pointer, `an instance of ${name}; convert it to plain objects, arrays, strings and numbers`)
  }
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key]
    if (item === undefined || typeof item === 'string' || typeof item === 'boolean') continue
    const found = inspect(item, pointerTo(pointer, key), above)
    if (found !== undefined) return found
  }
  return undefined
}

function fault(pointer: string, what: string): Fault {
  return { pointer, code: 'not_serialisable', message: `JSON cannot carry ${what}.` }
}
