import type { SchemaChange } from '../../contract/registry.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { isSame, type CompareSchemas, type SchemaWalk } from './schema-walk.ts'

/** Two objects that are compared. */
interface Pair {
  readonly before: JsonSchema
  readonly after: JsonSchema
  readonly walk: SchemaWalk
  readonly compare: CompareSchemas
}

/** What two object schemas say about their fields: new ones, missing ones, changed ones, and those without a name. */
export function diffFields(pair: Pair): void {
  const { before, after } = pair
  const names = new Set([
    ...Object.keys(before.properties ?? {}),
    ...Object.keys(after.properties ?? {}),
    ...(before.required ?? []),
    ...(after.required ?? []),
  ])
  for (const name of [...names].sort()) diffField(name, pair)
  diffOthers(pair)
  checkCounts(pair)
}

function diffField(name: string, pair: Pair): void {
  const { before, after, walk, compare } = pair
  const old = fieldOf(before, name)
  const now = fieldOf(after, name)
  const pointer = placeOf(name, walk)
  if (old === undefined && now !== undefined) return addField(name, now, pair)
  if (old !== undefined && now !== undefined) compare(old, now, { ...walk, pointer })
  if (old !== undefined && now === undefined) removeField(name, old, pair)
  diffRequired(name, pair)
}

function addField(name: string, field: JsonSchema, { before, after, walk, compare }: Pair): void {
  const pointer = placeOf(name, walk)
  const others = before.additionalProperties
  const found = walk.found.length
  if (typeof others === 'object') {
    // What had no name was allowed already, as one of the others.
    compare(others, field, { ...walk, pointer })
    if (walk.found.slice(found).some((change) => change.kind === 'breaking')) return
    walk.found.length = found
  }
  // Required without a name: what it was is nowhere to be read.
  if (isRequired(before, name))
    return add(walk, 'breaking', { pointer, message: `The required field "${name}" is described now.` })
  if (!isRequired(after, name)) return add(walk, 'added', { pointer, message: `The field "${name}" is new.` })
  const message = `The field "${name}" is new and required.`
  add(walk, walk.use === 'input' ? 'breaking' : 'changed', { pointer, message })
}

function removeField(name: string, field: JsonSchema, { after, walk, compare }: Pair): void {
  const pointer = placeOf(name, walk)
  const others = after.additionalProperties
  const message = `The field "${name}" is gone.`
  // What a default gave without a word is not given any more.
  if (walk.use === 'output' || others === false || field.default !== undefined)
    return add(walk, 'breaking', { pointer, message })
  if (typeof others === 'object') compare(field, others, { ...walk, pointer })
  add(walk, 'changed', { pointer, message })
}

function diffRequired(name: string, { before, after, walk }: Pair): void {
  const was = isRequired(before, name)
  const is = isRequired(after, name)
  if (was === is) return
  const breaks = walk.use === 'input' ? is : was
  add(walk, breaks ? 'breaking' : 'changed', {
    pointer: placeOf(name, walk),
    message: `The field "${name}" is ${is ? 'required now' : 'not required any more'}.`,
  })
}

/** Fields without a name. Readers of an output are taken to ignore those, unless a schema speaks of them. */
function diffOthers({ before, after, walk, compare }: Pair): void {
  const was = before.additionalProperties ?? true
  const is = after.additionalProperties ?? true
  if (isSame(was, is)) return
  const pointer = `${walk.pointer}/additionalProperties`
  const found = walk.found.length
  if (walk.use === 'input' && is === false)
    return add(walk, 'breaking', { pointer, message: 'Fields without a name are refused now.' })
  const unread = walk.use === 'output' && typeof was === 'boolean'
  if (!unread && was !== false && is !== false)
    compare(was === true ? {} : was, is === true ? {} : is, { ...walk, pointer })
  if (walk.found.length === found)
    add(walk, 'changed', { pointer, message: 'What fields without a name may be is not the same.' })
}

/** How many fields there are is counted after defaults are filled in, and by readers before they ignore any. */
function checkCounts({ before, after, walk }: Pair): void {
  const [, to] = walk.use === 'input' ? [before, after] : [after, before]
  const fieldsChanged = !isSame(before.properties, after.properties)
  const fillsIn = Object.values(to.properties ?? {}).some((field) => field.default !== undefined)
  if (to.maxProperties !== undefined && fillsIn && fieldsChanged)
    add(walk, 'breaking', {
      pointer: `${walk.pointer}/maxProperties`,
      message: 'Fields changed where defaults count against "maxProperties".',
    })
  const othersChanged = !isSame(before.additionalProperties, after.additionalProperties)
  if (walk.use === 'output' && (before.minProperties ?? 0) > 0 && (fieldsChanged || othersChanged))
    add(walk, 'breaking', {
      pointer: `${walk.pointer}/minProperties`,
      message: 'Fields changed where readers count them with "minProperties".',
    })
}

function fieldOf({ properties }: JsonSchema, name: string): JsonSchema | undefined {
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
}

function isRequired({ required }: JsonSchema, name: string): boolean {
  return required?.includes(name) ?? false
}

function placeOf(name: string, walk: SchemaWalk): string {
  return pointerTo(`${walk.pointer}/properties`, name)
}

function add(walk: SchemaWalk, kind: SchemaChange['kind'], about: Omit<SchemaChange, 'kind'>): void {
  walk.found.push({ kind, ...about })
}
