import { isObject } from './is-object.ts'

/**
 * JSON text that is the same for equal values: object keys sorted by UTF-16 code units, as RFC 8785 asks.
 * Takes what `JSON.stringify` takes; leaves out undefined members.
 */
export function canonicalJson(value: unknown): string {
  const flat = isObject(value) && !Array.isArray(value) ? flatText(value) : undefined
  if (flat !== undefined) return flat
  return JSON.stringify(isInOrder(value) ? value : inOrder(value)) ?? 'null'
}

/** More members are sorted by the engine. */
const fewMembers = 16

/** Text that JSON writes as it is. */
const plain = /^[ !#-[\]-~]*$/

/** The text of an object of a few texts, numbers and booleans, without a copy of it; undefined for any other. */
function flatText(members: Readonly<Record<string, unknown>>): string | undefined {
  const keys = Object.keys(members)
  if (keys.length > fewMembers) return undefined
  sortFew(keys)
  let text = ''
  for (const key of keys) {
    const value = members[key]
    if (value === undefined) continue
    const written = scalarText(value)
    if (written === undefined) return undefined
    text += `${text === '' ? '{' : ','}${quote(key)}:${written}`
  }
  return text === '' ? '{}' : `${text}}`
}

/** By insertion: that makes nothing new, unlike the engine. */
function sortFew(keys: string[]): void {
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] ?? ''
    let at = index
    for (; at > 0 && (keys[at - 1] ?? '') > key; at--) keys[at] = keys[at - 1] ?? ''
    keys[at] = key
  }
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (typeof value === 'number') return Number.isFinite(value) ? `${value === 0 ? 0 : value}` : 'null'
  return value === null ? 'null' : undefined
}

function quote(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** Most values have their keys in order already, and need no copy. */
function isInOrder(value: unknown): boolean {
  if (!isObject(value)) return true
  if (Array.isArray(value)) return value.every(isInOrder)
  let previous = ''
  for (const key in value) {
    // JavaScript lists integer keys first, whatever their order as text.
    if (key < previous) return false
    previous = key
    const member = value[key]
    if (typeof member === 'object' && !isInOrder(member)) return false
  }
  return true
}

function inOrder(value: unknown): unknown {
  if (!isObject(value)) return value
  if (Array.isArray(value)) return value.map(inOrder)
  const result: Record<string, unknown> = Object.create(null)
  for (const key of Object.keys(value).sort()) result[key] = inOrder(value[key])
  return result
}
