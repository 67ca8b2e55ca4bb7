import type { Issue, Json } from '../../contract/base/json.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { findUnfit } from '../../kit/schema/find-unfit.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { readTemplate, referencesOf, type Reference, type Template } from './template.ts'
import { schemaAt } from './schema-at.ts'

/** What each source of values says of them: `input`, and each part. Undefined for a part that does not say what it returns. */
export type SourceSchemas = ReadonlyMap<string, JsonSchema | undefined>

interface Place {
  readonly sources: SourceSchemas
  /** Where the template stands. */
  readonly pointer: string
}

const checker = createSchemaChecker()

/** Every place of a template whose value may not fit a schema. */
export function checkTemplate(template: Template, wanted: JsonSchema, place: Place): Issue[] {
  const read = readTemplate(template)
  if (referencesOf(template).length === 0) return checkLiteral(toLiteral(template), wanted, place)
  switch (read.kind) {
    case 'reference':
      return checkReference(read.reference, wanted, place)
    case 'list':
      return read.items.flatMap((item, index) =>
        checkTemplate(item, wanted.items ?? {}, { ...place, pointer: pointerTo(place.pointer, index) }),
      )
    case 'fields':
      return checkFields(read.fields, wanted, place)
    case 'literal':
      return []
  }
}

function toLiteral(template: Template): Json {
  const read = readTemplate(template)
  switch (read.kind) {
    case 'literal':
      return read.value
    case 'list':
      return read.items.map(toLiteral)
    case 'fields':
      return Object.fromEntries(Object.entries(read.fields).map(([name, field]) => [name, toLiteral(field)]))
    case 'reference':
      throw new Error('A reference is not a literal.')
  }
}

function checkLiteral(value: Json, wanted: JsonSchema, { pointer }: Place): Issue[] {
  const checked = checker.check(wanted, value)
  if (checked.ok) return []
  return checked.issues.map((issue) => ({ ...issue, pointer: `${pointer}${issue.pointer}` }))
}

function checkReference(reference: Reference, wanted: JsonSchema, { sources, pointer }: Place): Issue[] {
  const found = findSource(reference, sources)
  if (found === 'unchecked') return []
  if ('code' in found) return [{ ...found, pointer }]
  return findUnfit(found.schema, wanted).map((issue) => ({
    pointer,
    code: issue.code,
    message: `${show(reference)} may not fit${issue.pointer === '' ? '' : ` at "${issue.pointer}"`}: ${issue.message}.`,
  }))
}

/** What is known of the value of a reference. */
function findSource(
  reference: Reference,
  sources: SourceSchemas,
): { schema: JsonSchema; isSure: boolean } | 'unchecked' | Issue {
  const { from, at = '', unchecked } = reference
  if (unchecked === true) return 'unchecked'
  const source = sources.get(from)
  const advice =
    'or mark the reference with "unchecked": true, so that its value is held to the input of the part when it is there'
  if (source === undefined)
    return {
      pointer: '',
      code: 'no_output_schema',
      message: `"${from}" does not say what it returns: its tool has no output schema. Give it one, ${advice}.`,
    }
  return (
    schemaAt(source, at) ?? {
      pointer: '',
      code: 'unknown_field',
      message: `${show(reference)} is not in the schema of "${from}". Correct the pointer, ${advice}.`,
    }
  )
}

function checkFields(
  fields: { readonly [field: string]: Template },
  wanted: JsonSchema,
  place: Place,
): Issue[] {
  const { properties = {}, required = [], additionalProperties: others = true } = wanted
  const issues: Issue[] = []
  for (const [name, field] of Object.entries(fields)) {
    const pointer = pointerTo(place.pointer, name)
    const taken = Object.hasOwn(properties, name) ? properties[name] : others
    if (taken === false || taken === undefined)
      issues.push({ pointer, code: 'unknown_field', message: `There is no field "${name}" here.` })
    else issues.push(...checkTemplate(field, taken === true ? {} : taken, { ...place, pointer }))
  }
  for (const name of required) {
    const pointer = pointerTo(place.pointer, name)
    const field = fields[name]
    if (field === undefined)
      issues.push({ pointer, code: 'missing_field', message: `The field "${name}" is required.` })
    else if (mayBeMissing(field, place.sources))
      issues.push({
        pointer,
        code: 'does_not_fit',
        message: `The field "${name}" is required, and what it is taken from may not be there.`,
      })
  }
  return issues
}

/** Whether a field would be left out, as its reference may lead to nothing. */
export function mayBeMissing(template: Template, sources: SourceSchemas): boolean {
  const read = readTemplate(template)
  if (read.kind !== 'reference') return false
  const found = findSource(read.reference, sources)
  return found !== 'unchecked' && !('code' in found) && !found.isSure
}

/** The schema of what a template is filled with, as far as that is known. */
export function schemaOf(template: Template, sources: SourceSchemas): JsonSchema | undefined {
  const read = readTemplate(template)
  switch (read.kind) {
    case 'reference': {
      const found = findSource(read.reference, sources)
      return found === 'unchecked' || 'code' in found || !found.isSure ? undefined : found.schema
    }
    case 'literal':
      return { const: read.value }
    case 'list':
      return { type: 'array' }
    case 'fields': {
      const entries = Object.entries(read.fields)
      return {
        type: 'object',
        properties: Object.fromEntries(
          entries.map(([name, field]) => [name, schemaOf(field, sources) ?? optionalSchema(field, sources)]),
        ),
        required: entries.flatMap(([name, field]) => (isCertain(field, sources) ? [name] : [])),
        additionalProperties: false,
      }
    }
  }
}

function optionalSchema(template: Template, sources: SourceSchemas): JsonSchema {
  const read = readTemplate(template)
  if (read.kind !== 'reference') return {}
  const found = findSource(read.reference, sources)
  return found === 'unchecked' || 'code' in found ? {} : found.schema
}

function isCertain(template: Template, sources: SourceSchemas): boolean {
  const read = readTemplate(template)
  return read.kind !== 'reference' || (read.reference.unchecked !== true && !mayBeMissing(template, sources))
}

function show({ from, at = '' }: Reference): string {
  return at === '' ? `"${from}"` : `"${at}" of "${from}"`
}
