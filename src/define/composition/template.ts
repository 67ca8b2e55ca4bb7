import type { Json, JsonObject } from '../../contract/base/json.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import { pointerTo, valueAt } from '../../kit/json/json-pointer.ts'

/** A value of the input of a composition, or of what one of its parts returned. Make one with `valueFrom`. */
export interface Reference<Source extends string = string> {
  /** `input`, or the name of a part. */
  readonly from: Source
  /** RFC 6901 pointer into it. Default: all of it. */
  readonly at?: string
  /** Whether it is held to the schema of what takes it only when it is there. For a part that does not say what it returns. Default false. */
  readonly unchecked?: true
}

/** A value with references in it. An object with a field `from` is a reference; `{ literal: … }` is any value as it is. */
export type Template<Part extends string = string> =
  | Reference<Part | 'input'>
  | { readonly literal: Json }
  | string
  | number
  | boolean
  | null
  | readonly Template<Part>[]
  | { readonly [field: string]: Template<Part> }

/** A template, as it is read. */
export type ReadTemplate =
  | { readonly kind: 'reference'; readonly reference: Reference }
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'list'; readonly items: readonly Template[] }
  | { readonly kind: 'fields'; readonly fields: { readonly [field: string]: Template } }

export function readTemplate(template: Template): ReadTemplate {
  if (typeof template !== 'object' || template === null) return { kind: 'literal', value: template }
  if (isList(template)) return { kind: 'list', items: template }
  if ('from' in template) return { kind: 'reference', reference: template as Reference }
  if ('literal' in template && Object.keys(template).length === 1)
    return { kind: 'literal', value: template.literal as Json }
  return { kind: 'fields', fields: template as { readonly [field: string]: Template } }
}

function isList(template: Template): template is readonly Template[] {
  return Array.isArray(template)
}

/** A reference, and where it stands. */
export interface PlacedReference {
  readonly reference: Reference
  readonly pointer: string
}

/** All references of a template, each with the pointer to where it stands. */
export function referencesOf(template: Template, pointer = ''): PlacedReference[] {
  const read = readTemplate(template)
  switch (read.kind) {
    case 'reference':
      return [{ reference: read.reference, pointer }]
    case 'literal':
      return []
    case 'list':
      return read.items.flatMap((item, index) => referencesOf(item, pointerTo(pointer, index)))
    case 'fields':
      return Object.entries(read.fields).flatMap(([name, field]) =>
        referencesOf(field, pointerTo(pointer, name)),
      )
  }
}

/** What references lead to: the input, and what parts returned as data. */
export type Sources = ReadonlyMap<string, Json>

/** The value of a template. Undefined if all of it is a reference that leads to nothing; a field of such a one is left out. */
export function fillTemplate(template: Template, sources: Sources): Json | undefined {
  const read = readTemplate(template)
  switch (read.kind) {
    case 'reference': {
      const { from, at = '' } = read.reference
      return valueAt(sources.get(from), at) as Json | undefined
    }
    case 'literal':
      return read.value
    case 'list':
      return read.items.map((item) => fillTemplate(item, sources) ?? null)
    case 'fields':
      return fillFields(read.fields, sources)
  }
}

function fillFields(fields: { readonly [field: string]: Template }, sources: Sources): JsonObject {
  const filled = Object.entries(fields).flatMap(([name, field]) => {
    const value = fillTemplate(field, sources)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(filled)
}

/** The input of a part, which is an object. Undefined if it is none, as a reference leads to something else. */
export function fillInput(template: Template, sources: Sources): JsonObject | undefined {
  const value = fillTemplate(template, sources)
  return isJsonObject(value) ? value : undefined
}
