import { types } from 'node:util'
import type { Issue, Json } from '../../contract/base/json.ts'
import { isPlainObject } from './is-plain-object.ts'
import { pointerTo } from './json-pointer.ts'
import { messageOf } from '../text/message-of.ts'

/** Deeper than this, JSON cannot carry a value here. */
const maxDepth = 128
/** About so many characters; an engine's text takes a few times as many. */
const maxSize = 2 ** 27

/** A value as JSON: a copy that shares nothing with it. */
export interface JsonCopy {
  readonly json: Json
  /** About how many characters it takes as text. Never less than its strings have. */
  readonly size: number
}

/**
 * A copy of a value as JSON carries it, or the first thing in it that JSON cannot carry.
 *
 * What `toJSON` says of an object counts, as for a Date. Bytes become Base64, a Set an array, a Map an object, or an array of pairs where
 * not all of its keys are texts or numbers, a BigInt its digits, an Error its name and message. A number that is not finite becomes null,
 * and so does undefined in an array; a member that is undefined is left out. Of an instance of a class, its own members count. A cycle,
 * a function, a symbol, an object of a class without members, more than 128 levels and more than 128 Mi characters are issues. So is what throws
 * when it is looked at.
 */
export function toJson(value: unknown): JsonCopy | Issue {
  const walk = new Walk()
  try {
    const json = walk.copy(value)
    return { json, size: walk.size }
  } catch (error) {
    if (error instanceof NotJson) return walk.issue(`JSON cannot carry ${error.message}.`)
    return walk.issue(`It cannot be read: ${messageOf(error)}`)
  }
}

/** Whether a value could not be copied. */
export function isIssue(copied: JsonCopy | Issue): copied is Issue {
  return 'pointer' in copied
}

/** Ends a walk. Its message says what JSON cannot carry. */
class NotJson extends Error {}

class Walk {
  size = 0
  /** The objects around the value at hand, outermost first. */
  readonly #above: object[] = []
  /** Where each of them stands in the one before; the last token is that of the value at hand. */
  readonly #path: (string | number)[] = []

  issue(message: string): Issue {
    return { pointer: this.#path.reduce(pointerTo, ''), code: 'not_serialisable', message }
  }

  copy(value: unknown): Json {
    switch (typeof value) {
      case 'string':
        this.size += value.length + 2
        return value
      case 'number':
        this.size += 8
        return Number.isFinite(value) ? value : null
      case 'boolean':
        this.size += 8
        return value
      case 'bigint':
        return this.copy(String(value))
      case 'object':
        return this.#copyObject(value)
      case 'undefined':
        throw new NotJson('undefined; return null, or leave it out')
      case 'function':
        throw new NotJson('a function')
      case 'symbol':
        throw new NotJson('a symbol')
    }
  }

  #copyObject(value: object | null): Json {
    if (value === null) {
      this.size += 8
      return null
    }
    if (this.#above.includes(value)) throw new NotJson('a cycle: an object that contains itself')
    if (this.#above.length >= maxDepth) throw new NotJson(`more than ${maxDepth} levels of nesting`)
    this.#above.push(value)
    const copy = Array.isArray(value) ? this.#copyArray(value) : this.#copyOther(value)
    if (this.size > maxSize) throw tooLarge()
    this.#above.pop()
    return copy
  }

  /** A few bytes are enough for an array of any length. */
  #copyArray(value: readonly unknown[]): Json[] {
    if (value.length * 4 > maxSize) throw tooLarge()
    return this.#copyItems(itemsOf(value))
  }

  /** Takes a fresh array. */
  #copyItems(items: unknown[]): Json[] {
    this.size += 2 + items.length
    const index = this.#path.push(0) - 1
    for (let at = 0; at < items.length; at++) {
      this.#path[index] = at
      items[at] = this.copy(items[at] ?? null)
    }
    this.#path.pop()
    // Every item is a copy by now.
    return items as Json[]
  }

  /** Takes a fresh object: it is looked at once, whatever its getters say the next time. */
  #copyMembers(members: Record<string, unknown>): Json {
    this.size += 2
    let hasUndefined = false
    const index = this.#path.push('') - 1
    for (const key in members) {
      const member = members[key]
      this.size += key.length + 4
      if (member === undefined) hasUndefined = true
      else if (typeof member === 'string') this.size += member.length + 2
      else {
        this.#path[index] = key
        members[key] = this.copy(member)
      }
    }
    this.#path.pop()
    // Every member is a copy by now, or undefined.
    return (hasUndefined ? withoutUndefined(members) : members) as Json
  }

  #copyOther(value: object): Json {
    if ('toJSON' in value && typeof value.toJSON === 'function' && !ArrayBuffer.isView(value)) {
      const said: unknown = value.toJSON(String(this.#path.at(-1) ?? ''))
      if (said !== value) return this.copy(said)
    }
    return isPlainObject(value) ? this.#copyMembers({ ...value }) : this.#copyInstance(value)
  }

  /** Asked for by what it is, not by its class: it may come from another realm, such as that of a test runner. */
  #copyInstance(value: object): Json {
    if (ArrayBuffer.isView(value))
      return this.copy(toBase64(value.buffer, value.byteOffset, value.byteLength))
    if (types.isAnyArrayBuffer(value)) return this.copy(toBase64(value, 0, value.byteLength))
    if (types.isSet(value)) return this.#copyItems([...Set.prototype.values.call(value)])
    if (types.isMap(value)) return this.#copyMap(value)
    if (types.isBoxedPrimitive(value)) return this.copy(value.valueOf())
    const members: Record<string, unknown> = { ...value }
    if (types.isNativeError(value))
      return this.#copyMembers({ ...members, name: value.name, message: value.message })
    if (Object.keys(members).length === 0 && !isPlainElsewhere(value))
      throw new NotJson(
        `${nameOf(value)}, which has no members; return plain objects, arrays, strings and numbers`,
      )
    return this.#copyMembers(members)
  }

  #copyMap(value: ReadonlyMap<unknown, unknown>): Json {
    const entries = [...Map.prototype.entries.call(value)]
    const isNamed = entries.every(([key]) => typeof key === 'string' || typeof key === 'number')
    return isNamed ? this.#copyMembers(Object.fromEntries(entries)) : this.#copyItems(entries)
  }
}

const ownIterator = Array.prototype[Symbol.iterator]

/** As many as its length says: an iterator that a tool has put in its place may never end. */
function itemsOf(value: readonly unknown[]): unknown[] {
  return value[Symbol.iterator] === ownIterator
    ? [...value]
    : Array.from({ length: value.length }, (_, index) => value[index])
}

function tooLarge(): NotJson {
  return new NotJson(`more than about ${maxSize} characters`)
}

function toBase64(buffer: ArrayBufferLike, offset: number, length: number): string {
  return Buffer.from(buffer, offset, length).toString('base64')
}

/** Whether it is an object made by `{}` in another realm. */
function isPlainElsewhere(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return (
    typeof prototype === 'object' &&
    prototype !== null &&
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, 'isPrototypeOf')
  )
}

function withoutUndefined(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined))
}

/** An async generator has a class without a name. */
function nameOf(value: object): string {
  const name: unknown = value.constructor?.name
  const isNamed = typeof name === 'string' && name !== '' && name !== 'Object'
  return `an instance of ${isNamed ? name : Object.prototype.toString.call(value).slice('[object '.length, -1)}`
}
