import type { Issue } from '../contract/base/json.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import { isPlainObject } from '../kit/json/is-plain-object.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'

/** Which issues a value has, and how much of what has one is left out. */
interface About {
  readonly issues: readonly Issue[]
  /** `value`: the faulty value alone. `entry`: the whole entry of a list that has one, since without a part it says another thing. */
  readonly leaveOut: 'value' | 'entry'
}

/**
 * What of a value fits its schema; undefined if nothing does. An entry that is left out of a list leaves a hole, so that the others keep their places,
 * and an object that is left out of a map leaves an empty one, so that its name is known.
 */
export function soundPart(value: unknown, schema: JsonSchema, about: About): unknown {
  return partAt({ value, schema, pointer: '' }, about)
}

/** A value, and where it stands. */
interface Place {
  readonly value: unknown
  readonly schema: JsonSchema
  readonly pointer: string
}

function partAt(place: Place, about: About): unknown {
  if (isFaulty(place.pointer, about)) return undefined
  if (Array.isArray(place.value)) return partOfList(place.value, place, about)
  return isPlainObject(place.value) ? partOfObject(place.value, place, about) : place.value
}

function partOfObject(value: Record<string, unknown>, { schema, pointer }: Place, about: About): unknown {
  const { properties = {}, additionalProperties, required = [] } = schema
  const others = typeof additionalProperties === 'object' ? additionalProperties : {}
  const members = Object.entries(value).flatMap(([name, member]) => {
    const isKnown = Object.hasOwn(properties, name)
    const own = (isKnown ? properties[name] : others) ?? {}
    const part = partAt({ value: member, schema: own, pointer: pointerTo(pointer, name) }, about)
    if (part !== undefined) return [[name, part]]
    return isKnown || own.type !== 'object' ? [] : [[name, {}]]
  })
  const part: Record<string, unknown> = Object.fromEntries(members)
  return required.every((name) => Object.hasOwn(part, name)) ? part : undefined
}

function partOfList(list: readonly unknown[], { schema, pointer }: Place, about: About): unknown[] {
  const parts: unknown[] = []
  parts.length = list.length
  for (const [index, item] of list.entries()) {
    const at = pointerTo(pointer, index)
    if (about.leaveOut === 'entry' && hasIssue(at, about)) continue
    const part = partAt({ value: item, schema: schema.items ?? {}, pointer: at }, about)
    if (part !== undefined) parts[index] = part
  }
  return parts
}

function isFaulty(pointer: string, { issues }: About): boolean {
  return issues.some((issue) => issue.pointer === pointer)
}

function hasIssue(pointer: string, about: About): boolean {
  return isFaulty(pointer, about) || about.issues.some((issue) => issue.pointer.startsWith(`${pointer}/`))
}

/** The same without holes. */
export function closeHoles(part: unknown): unknown {
  // Holes are passed over by filter, and kept by map.
  if (Array.isArray(part)) return part.filter(() => true).map(closeHoles)
  if (!isPlainObject(part)) return part
  return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, closeHoles(member)]))
}
