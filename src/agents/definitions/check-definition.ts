import {
  agentRoles,
  type AgentDefinitionOrigin,
  type RegisteredAgentDefinition,
} from '../../contract/services/agent-definition.ts'
import type { JsonSchema, SchemaChecker } from '../../contract/base/schema.ts'
import { copyJson } from '../../kit/json/copy-json.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import { toToolNames } from './to-tool-names.ts'

/** What a definition says, by field, and where it comes from. */
export interface RawDefinition {
  readonly origin: AgentDefinitionOrigin
  readonly fields: Readonly<Record<string, unknown>>
  readonly file?: string
}

/** What is wrong with a field. */
export interface FieldIssue {
  readonly field: string
  readonly message: string
  readonly leftOut: boolean
}

/** A definition, if nothing is so wrong with it that it is left out. */
export interface CheckedDefinition {
  readonly definition: RegisteredAgentDefinition | undefined
  readonly overrides: string | undefined
  readonly issues: readonly FieldIssue[]
}

/** Fields as a definition in a file has them; those of one in a program are brought into this form. */
export const fieldNames = [
  'name',
  'description',
  'instructions',
  'model',
  'tools',
  'disallowedTools',
  'role',
  'mode',
  'maxTurns',
  'timeoutMs',
  'isolation',
  'outputSchema',
  'overrides',
] as const

type FieldName = (typeof fieldNames)[number]

const longestDescription = 16_384
const longestInstructions = 262_144
const mostTools = 200
const longestMs = 86_400_000

/** Checks every field of a definition, and finds all that is wrong at once. */
export function checkDefinition(raw: RawDefinition, checker: SchemaChecker): CheckedDefinition {
  const read = createReader(raw)
  const id = read.text('name', 128)
  if (id !== undefined && !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(id))
    read.refuse('name', `"${id}" is not an id: use letters, digits, "_", "." and "-".`)
  const definition = {
    id: id ?? '',
    description: read.text('description', longestDescription) ?? '',
    instructions: read.text('instructions', longestInstructions) ?? '',
    ...present('model', readModel(read)),
    ...present('tools', readTools(read, 'tools')),
    ...present('disallowedTools', readTools(read, 'disallowedTools')),
    role: readRole(read, raw.origin),
    ...present('mode', read.oneOf('mode', ['plan'])),
    ...present('limits', readLimits(read)),
    isolation: read.oneOf('isolation', ['none', 'worktree']) ?? 'none',
    ...present('outputSchema', readSchema(read, checker)),
    origin: raw.origin,
    ...present('file', raw.file),
  } as const
  const overrides = readOverrides(read, raw.origin)
  const isLeftOut = read.issues.some(({ leftOut }) => leftOut)
  return { definition: isLeftOut ? undefined : definition, overrides, issues: read.issues }
}

function present<Name extends string, Value>(name: Name, value: Value | undefined) {
  // The object has this one field, or none.
  return (value === undefined ? {} : { [name]: value }) as { [field in Name]?: Value }
}

/** Reads fields and notes what is wrong with them. What cannot be read is undefined. */
function createReader({ fields }: RawDefinition) {
  const issues: FieldIssue[] = []
  const refuse = (field: FieldName, message: string): undefined =>
    void issues.push({ field, message, leftOut: true })
  const valueOf = (field: FieldName): unknown => fields[field] ?? undefined
  return {
    issues,
    refuse,
    valueOf,
    has: (field: FieldName) => Object.hasOwn(fields, field) && fields[field] !== undefined,
    note: (field: FieldName, message: string) => issues.push({ field, message, leftOut: false }),
    /** A text that has to be there. */
    text(field: FieldName, most: number): string | undefined {
      const value = valueOf(field)
      if (value === undefined || (typeof value === 'string' && value.trim() === ''))
        return refuse(field, `"${field}" is missing. ${missing[field] ?? ''}`.trim())
      if (typeof value !== 'string') return refuse(field, `"${field}" is not a text.`)
      if (value.length > most)
        return refuse(field, `"${field}" has ${value.length} characters, and at most ${most} are taken.`)
      return value.trim()
    },
    oneOf<const Value extends string>(field: FieldName, values: readonly Value[]): Value | undefined {
      const value = valueOf(field)
      if (value === undefined) return undefined
      const found = values.find((each) => each === value)
      return found ?? refuse(field, `"${field}" is ${show(value)}. Use ${values.join(', ')}.`)
    },
    count(field: FieldName, most: number): number | undefined {
      const value = valueOf(field)
      if (value === undefined) return undefined
      if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value
      return refuse(field, `"${field}" is ${show(value)}. Use a whole number from 1 to ${most}.`)
    },
  }
}

type Reader = ReturnType<typeof createReader>

const missing: { readonly [field in FieldName]?: string } = {
  name: 'It is the id by which such an agent is started.',
  description: 'A model chooses an agent by it.',
  instructions: 'Write what such an agent is told; in a file, below the front matter.',
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80)
}

function readModel(read: Reader): string | undefined {
  const value = read.valueOf('model')
  if (value === undefined || value === 'inherit') return undefined
  return read.text('model', 200)
}

/** A list without any tool would not narrow: absent and empty are the same to a session. */
function readTools(read: Reader, field: 'tools' | 'disallowedTools'): readonly string[] | undefined {
  if (!read.has(field)) return undefined
  const entries = listOf(read.valueOf(field))
  if (entries === undefined || entries.length > mostTools)
    return read.refuse(field, `"${field}" is not a list of at most ${mostTools} names of tools.`)
  const { names, leftOut } = toToolNames(entries)
  if (field === 'disallowedTools' && leftOut.length > 0) return read.refuse(field, leftOut.join(' '))
  for (const message of leftOut) read.note(field, message)
  if (names.length > 0) return names
  return read.refuse(
    field,
    `"${field}" names no tool that is known here. Name one, or leave the field out: then it has what its role has.`,
  )
}

/** Names with commas between them, as one text, or as a list. */
function listOf(value: unknown): readonly string[] | undefined {
  if (value === undefined) return []
  const entries: readonly unknown[] | undefined =
    typeof value === 'string' ? splitNames(value) : Array.isArray(value) ? value : undefined
  if (entries === undefined || !entries.every((entry) => typeof entry === 'string')) return undefined
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '')
}

/** Commas inside of brackets divide nothing. */
function splitNames(text: string): string[] {
  return text.split(/,(?![^(]*\))/)
}

function readRole(read: Reader, origin: AgentDefinitionOrigin): (typeof agentRoles)[number] {
  const role = read.oneOf('role', agentRoles)
  if (role === 'orchestrator' && origin === 'project')
    read.refuse('role', 'A definition of a project has not the role "orchestrator". Use sub, fork or worker.')
  return role ?? 'sub'
}

function readLimits(read: Reader) {
  const limits = {
    ...present('maxTurns', read.count('maxTurns', 10_000)),
    ...present('timeoutMs', read.count('timeoutMs', longestMs)),
  }
  return Object.keys(limits).length === 0 ? undefined : limits
}

function readSchema(read: Reader, checker: SchemaChecker): JsonSchema | undefined {
  const schema = read.valueOf('outputSchema')
  if (schema === undefined) return undefined
  if (!isJsonObject(schema)) return read.refuse('outputSchema', '"outputSchema" is not a JSON Schema.')
  const issues = checker.inspect(schema, 'own')
  for (const { pointer, message } of issues)
    read.refuse('outputSchema', `"outputSchema" at "${pointer}": ${message}`)
  return issues.length > 0 ? undefined : copyJson(schema)
}

/** The definition in whose place this one stands. */
function readOverrides(read: Reader, origin: AgentDefinitionOrigin): string | undefined {
  if (!read.has('overrides')) return undefined
  if (origin === 'project')
    return read.refuse('overrides', 'A definition of a project replaces no other one.')
  const overrides = read.text('overrides', 200)
  const [, of = '', id = ''] = /^(builtin|code):(.+)$/.exec(overrides ?? '') ?? []
  if (of !== '' && id === read.valueOf('name')) return overrides
  return read.refuse(
    'overrides',
    `"overrides" is ${show(read.valueOf('overrides'))}. Use "builtin:" or "code:" and the name of this definition.`,
  )
}
