import type { PresentedTool, Registered, ToolStatus } from '../../contract/registry.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { quoteArgv } from '../../kit/text/quote-argv.ts'
import { showDuration } from '../../kit/time/show-duration.ts'
import { pageWidth, table, wrap } from '../base/wrap.ts'

/** A tool, and where it stands. */
interface Shown {
  readonly presented: PresentedTool
  readonly registered: Registered
  readonly status: ToolStatus
}

/** More choices than fit beside a name are told in the words about it. */
const longestChoices = 24

/** One tool as text for a terminal: what it does and may do, its fields, and a call to paste. */
export function toolPage({ presented, registered, status }: Shown): string {
  const width = pageWidth(process.stdout)
  const { definition, source } = registered
  const { permission, sideEffect, safety, limits, version } = definition
  const time = limits.timeoutMs === undefined ? '' : `, at most ${showDuration(limits.timeoutMs)}`
  const state = status.state === 'enabled' ? '' : `, ${status.state}`
  const fields = Object.entries(presented.inputSchema.properties ?? {})
  const required = presented.inputSchema.required ?? []
  const marked = fields.map(([name, schema]) => [mark(name, required), schema] as const)
  const longest = Math.max(0, ...marked.map(([name]) => name.length))
  const rows = marked.map(
    ([name, schema]) => [`${name.padEnd(longest)}  ${describeType(schema)}`, describeField(schema)] as const,
  )
  const blocks = [
    [`${presented.name} – ${presented.title}`],
    wrap(presented.description.replaceAll(/\s+/g, ' '), width),
    [
      `${permission}, side effect ${sideEffect}, safety ${safety}${time}${state}`,
      `version ${version}, from ${source}`,
    ],
    fields.length === 0 ? ['It takes no fields.'] : ['Fields (* required):', ...table(rows, width)],
    [`  ${exampleOf(presented, required)}`],
  ]
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function mark(name: string, required: readonly string[] = []): string {
  return required.includes(name) ? `${name}*` : name
}

function describeType({ type, items, enum: values, properties, required }: JsonSchema): string {
  const choices = values?.map((value) => JSON.stringify(value)).join('|') ?? ''
  if (choices !== '' && choices.length <= longestChoices) return choices
  const types = typeof type === 'string' ? [type] : (type ?? ['any'])
  return types
    .map((each) => {
      if (each === 'array') return `list of ${describeType(items ?? {})}`
      if (each !== 'object' || properties === undefined) return each
      return `{${Object.keys(properties)
        .map((name) => mark(name, required))
        .join(', ')}}`
    })
    .join('|')
}

function describeField(schema: JsonSchema): string {
  const { description, default: standard, minimum, maximum, enum: values = [] } = schema
  const choices = values.map((value) => JSON.stringify(value))
  return [
    description,
    choices.join('|').length > longestChoices ? `One of ${choices.join(', ')}.` : undefined,
    standard === undefined ? undefined : `Default: ${JSON.stringify(standard)}.`,
    describeBounds(minimum, maximum),
  ]
    .filter((part) => part !== undefined)
    .join(' ')
}

function describeBounds(minimum: number | undefined, maximum: number | undefined): string | undefined {
  if (minimum !== undefined && maximum !== undefined) return `From ${minimum} to ${maximum}.`
  if (minimum !== undefined) return `At least ${minimum}.`
  return maximum === undefined ? undefined : `At most ${maximum}.`
}

/** A call with all that the tool needs, to be filled in. */
function exampleOf({ name, inputSchema, presentation }: PresentedTool, required: readonly string[]): string {
  const schemas = required.map((field) => [field, inputSchema.properties?.[field] ?? {}] as const)
  const words = schemas.every(([, schema]) => isPlain(schema))
    ? schemas.map(([field, schema]) => `${field}=${placeholderOf(field, schema)}`)
    : [
        JSON.stringify(
          Object.fromEntries(schemas.map(([field, schema]) => [field, exampleValue(field, schema)])),
        ),
      ]
  return quoteArgv([
    'handrail',
    'call',
    name,
    ...words,
    ...(presentation === 'compatible' ? ['--presentation', presentation] : []),
  ])
}

function isPlain({ type, items }: JsonSchema): boolean {
  return type !== 'object' && (items === undefined || items.type !== 'object')
}

function placeholderOf(field: string, schema: JsonSchema): string {
  const value = exampleValue(field, schema.type === 'array' ? (schema.items ?? {}) : schema)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function exampleValue(field: string, schema: JsonSchema): unknown {
  const { type, enum: values, examples, minimum = 1, items = {}, properties = {}, required = [] } = schema
  const known = examples?.[0] ?? values?.[0] ?? schema.const ?? schema.default
  if (known !== undefined) return known
  if (type === 'integer' || type === 'number') return minimum
  if (type === 'boolean') return true
  if (type === 'array') return [exampleValue(field, items)]
  if (type === 'object')
    return Object.fromEntries(required.map((name) => [name, exampleValue(name, properties[name] ?? {})]))
  return field.toUpperCase()
}
