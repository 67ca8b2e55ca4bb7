import { findNodeAtLocation, getLocation, parseTree, type JSONPath } from 'jsonc-parser'
import policySchema from '../../schemas/policy.json' with { type: 'json' }

/** What may stand at a place of the policy. */
export interface Option {
  readonly label: string
  readonly about: string | undefined
  readonly text: string
  /** How far before the end of the text the caret stands then. */
  readonly back: number
}

/** What is known of a place of the policy. */
export interface Advice {
  /** Such as `rules › 0 › effect`. */
  readonly place: string
  readonly about: string
  readonly options: readonly Option[]
  /** What an option takes the place of. */
  readonly from: number
  readonly to: number
}

/** What else is known by name, such as tools, by the field that lists it. */
export type Known = Readonly<Record<string, readonly string[]>>

interface Schema {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly required?: readonly string[]
}

const top: Schema = policySchema

/** What may stand at this place of the text, and what it means there, as the schema of a policy says. */
export function advise(text: string, offset: number, known: Known = {}): Advice {
  const { path, isAtPropertyKey, previousNode } = getLocation(text, offset)
  const { from, to } = findToken(text, offset, previousNode)
  const typed = text.slice(from, offset).replace(/^"/, '').toLowerCase()
  const schema = schemaAt(path)
  const parent = path.slice(0, -1)
  const all = isAtPropertyKey
    ? toKeys(text, { path: parent, current: path.at(-1), from, to })
    : toValues(schema, known[String(parent.at(-1))])
  const fitting = all.filter(({ label }) => label.toLowerCase().includes(typed))
  const options = fitting.toSorted(
    (one, other) =>
      Number(other.label.toLowerCase().startsWith(typed)) - Number(one.label.toLowerCase().startsWith(typed)),
  )
  const isKnown = schema !== undefined && path.at(-1) !== ''
  const shown = isKnown ? path : parent
  const about = describe(isKnown ? schema : schemaAt(parent), requiredAt(shown))
  return { place: shown.join(' › '), about, options, from, to }
}

/** The text that is written at the caret: a whole value or name, or the part of a word. */
function findToken(
  text: string,
  offset: number,
  node: { readonly offset: number; readonly length: number } | undefined,
): { from: number; to: number } {
  if (node !== undefined && node.offset <= offset && offset <= node.offset + node.length)
    return { from: node.offset, to: node.offset + node.length }
  const word = /[\w.*-]*$/.exec(text.slice(0, offset))?.[0] ?? ''
  return { from: offset - word.length, to: offset }
}

function schemaAt(path: JSONPath): Schema | undefined {
  let at: Schema | undefined = top
  for (const part of path) {
    const rest: boolean | Schema | undefined = at?.additionalProperties
    at = typeof part === 'number' ? at?.items : at?.properties?.[part]
    if (at === undefined && typeof part === 'string' && typeof rest === 'object') at = rest
  }
  return at
}

function requiredAt(path: JSONPath): boolean {
  const name = path.at(-1)
  return typeof name === 'string' && (schemaAt(path.slice(0, -1))?.required?.includes(name) ?? false)
}

interface KeyPlace {
  readonly path: JSONPath
  readonly current: string | number | undefined
  readonly from: number
  readonly to: number
}

/** The fields that an object may have and does not have yet, those that it needs first. */
function toKeys(text: string, { path, current, from, to }: KeyPlace): Option[] {
  const schema = schemaAt(path)
  const tree = parseTree(text)
  const object = tree && findNodeAtLocation(tree, path)
  const present = new Set((object?.children ?? []).map((each) => String(each.children?.[0]?.value)))
  const isNeeded = (name: string): boolean => schema?.required?.includes(name) ?? false
  const names = Object.keys(schema?.properties ?? {}).filter((name) => name === current || !present.has(name))
  const hasValue = /^\s*:/.test(text.slice(to))
  const before = /[^\s,{]\s*$/.test(text.slice(0, from)) ? ', ' : ''
  const after = /^\s*"/.test(text.slice(to)) ? ',' : ''
  return names
    .toSorted((one, other) => Number(isNeeded(other)) - Number(isNeeded(one)))
    .map((name) => {
      const own = schema?.properties?.[name]
      const [value, back] = hasValue ? ['', 0] : toValue(own)
      const end = hasValue ? '' : after
      return {
        label: name,
        about: describe(own, isNeeded(name)),
        text: `${before}${JSON.stringify(name)}${hasValue ? '' : ': '}${value}${end}`,
        back: back + end.length,
      }
    })
}

/** A value of this kind to be filled in, and how far before its end that is done. */
function toValue(schema: Schema | undefined): readonly [text: string, back: number] {
  if (schema?.enum !== undefined || schema?.type === 'string') return ['""', 1]
  if (schema?.type === 'array') {
    const [inner, back] = toValue(schema.items)
    return [`[${inner}]`, back + 1]
  }
  return schema?.type === 'object' ? ['{}', 1] : ['', 0]
}

function toValues(schema: Schema | undefined, names: readonly string[] = []): Option[] {
  const values = schema?.type === 'boolean' ? [true, false] : [...(schema?.enum ?? []), ...names]
  return values.map((value) => ({
    label: String(value),
    about: undefined,
    text: JSON.stringify(value),
    back: 0,
  }))
}

function describe(schema: Schema | undefined, isNeeded: boolean): string {
  if (schema === undefined) return 'The policy has no such field.'
  const values = schema.enum ?? schema.items?.enum
  return [
    ...(isNeeded ? ['Needed.'] : []),
    ...(schema.description === undefined ? [] : [schema.description]),
    ...(values === undefined ? [] : [`One of ${values.join(', ')}.`]),
  ].join(' ')
}
