import type { Json, JsonObject } from '../../../contract/base/json.ts'
import type { JsonSchema } from '../../../contract/base/schema.ts'
import type { Annotations, ToolDefinition } from '../../../contract/tool/tool.ts'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import { digest } from '../../../kit/json/digest.ts'
import { dropInvisible } from '../../../kit/text/drop-invisible.ts'
import { readJsonObject } from '../../../kit/json/is-json-object.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { jsonSize } from '../../../kit/json/json-size.ts'
import { withoutInvisible } from '../../../kit/json/without-invisible.ts'
import { oneLine } from '../../../kit/text/one-line.ts'
import { toSourceName, toToolName } from './tool-names.ts'

/** What a server says of one of its tools. Everything else in a definition is the operator's word. */
export interface ImportedTool {
  /** Canonical. */
  readonly name: string
  /** What the server calls it. */
  readonly rawName: string
  /** Of everything that the server says of it and that a model or a person goes by. */
  readonly seen: string
  readonly fields: Pick<
    ToolDefinition,
    'title' | 'description' | 'annotations' | 'inputSchema' | 'outputSchema' | 'metadata'
  >
}

/** Where the facts of an imported tool stand in its metadata. */
export const factsKey = 'mcp'

const maxNameLength = 1_024
const maxTitleLength = 200
/** A longer one goes to every model with every request, and leaves no room for the work. */
const maxDescription = 10_000
/** A definition larger than this serves no client. */
const maxToolBytes = 256 * 1024

/**
 * One entry of a server's list of tools, or what is wrong with it. Whatever a client could use is kept. `hide` takes secrets out of
 * what is shown; the digest is of what the server said.
 */
export function importTool(
  server: string,
  raw: unknown,
  hide: (said: JsonObject) => JsonObject = (said) => said,
): ImportedTool | FaultyTool {
  try {
    return readTool(server, readJsonObject(raw), hide)
  } catch (error) {
    if (error instanceof RangeError)
      return { tool: toSourceName(server), message: 'One of its tools is nested too deeply.' }
    throw error
  }
}

/** An entry of a list that is not a tool. */
export interface FaultyTool {
  /** Canonical name of the tool or, where it has none, of its server. */
  readonly tool: string
  readonly message: string
}

function readTool(
  server: string,
  entry: JsonObject,
  hide: (said: JsonObject) => JsonObject,
): ImportedTool | FaultyTool {
  const rawName = entry['name']
  if (typeof rawName !== 'string')
    return {
      tool: toSourceName(server),
      message: 'An entry of its list of tools has no name, and is left out.',
    }
  const name = toToolName(server, rawName)
  const fault = findFault(rawName, entry)
  if (fault !== undefined) return { tool: name, message: fault }
  const { name: _, title, description, annotations, inputSchema, outputSchema, ...more } = hide(entry)
  const hints = isPlainObject(annotations) ? annotations : {}
  const { kept, rest } = sortHints(hints)
  const shown = firstText(title, hints['title'], rawName, name)
  const seen = digestOf(rawName, entry)
  // Ours last: a server that could name them itself could hide that its tool changed.
  const facts = { ...more, ...clean({ title: hints['title'] }), server, name: rawName, seen }
  return {
    name,
    rawName,
    seen,
    fields: {
      title: shown,
      description: toDescription(server, rawName, description),
      annotations: kept,
      inputSchema: toInputSchema(withoutInvisible(inputSchema)),
      outputSchema: isPlainObject(outputSchema) ? withoutInvisible(outputSchema) : undefined,
      metadata: { [factsKey]: { ...facts, ...(Object.keys(rest).length > 0 && { annotations: rest }) } },
    },
  }
}

/** The same from a definition that is remembered; undefined for one that no server gave. */
export function recallTool(definition: ToolDefinition): ImportedTool | undefined {
  const facts = definition.metadata[factsKey]
  if (!isPlainObject(facts)) return undefined
  const { name: rawName, seen } = facts
  if (typeof rawName !== 'string' || typeof seen !== 'string') return undefined
  const { name, title, description, annotations, inputSchema, outputSchema, metadata } = definition
  return {
    name,
    rawName,
    seen,
    fields: { title, description, annotations, inputSchema, outputSchema, metadata },
  }
}

function digestOf(
  rawName: string,
  { title, description, annotations, inputSchema, outputSchema }: JsonObject,
): string {
  return digest(canonicalJson(clean({ rawName, title, description, annotations, inputSchema, outputSchema })))
}

function findFault(name: string, raw: JsonObject): string | undefined {
  if (name.length > maxNameLength)
    return `Its name has ${name.length} characters, and at most ${maxNameLength} are taken.`
  const size = jsonSize(raw)
  if (size > maxToolBytes) return `Its definition has ${size} bytes, and at most ${maxToolBytes} are taken.`
  if (raw['inputSchema'] !== undefined && !isPlainObject(raw['inputSchema']))
    return 'Its input schema is not a JSON Schema.'
  if (raw['outputSchema'] !== undefined && !isPlainObject(raw['outputSchema']))
    return 'Its output schema is not a JSON Schema.'
  return undefined
}

const hintNames: readonly string[] = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']

/** Hints as MCP has them, and what else stands among them. */
function sortHints(given: JsonObject): { kept: Annotations; rest: JsonObject } {
  const entries = Object.entries(given).filter(([name]) => name !== 'title')
  const isHint = ([name, value]: [string, unknown]): boolean =>
    hintNames.includes(name) && typeof value === 'boolean'
  return {
    kept: Object.fromEntries(entries.filter(isHint)),
    rest: Object.fromEntries(entries.filter((entry) => !isHint(entry))),
  }
}

/** Words of strangers, and said to be. A model goes by them, so nothing may stand in them that a person does not see. */
function toDescription(server: string, rawName: string, description: unknown): string {
  const text = typeof description === 'string' ? dropInvisible(description).trim() : ''
  const from = dropInvisible(server)
  if (text === '')
    return `[MCP server "${from}"] The tool "${oneLine(rawName, maxTitleLength)}", which is not described.`
  if (text.length <= maxDescription) return `[MCP server "${from}"] ${text}`
  const start = text.slice(0, maxDescription).toWellFormed()
  return `[MCP server "${from}"] ${start} … [${text.length - maxDescription} more characters are left out]`
}

/** What of a description is too long for a model, in a sentence; undefined if it is not. */
export function findLongDescription({ name, fields }: ImportedTool): FaultyTool | undefined {
  const [, more] = / … \[(\d+) more characters are left out\]$/.exec(fields.description) ?? []
  if (more === undefined) return undefined
  const message = `Its description has ${maxDescription + Number(more)} characters, of which models are shown the first ${maxDescription}.`
  return { tool: name, message }
}

/** The arguments of a call are an object, whether or not a schema says so. */
function toInputSchema(schema: Json | undefined): JsonSchema {
  if (!isPlainObject(schema)) return { type: 'object' }
  const says = schema['type'] !== undefined && schema['type'] !== 'any'
  return { ...schema, ...(!says && { type: 'object' }) }
}

/** People see it in the question whether a call may go on, so that it must not look like more than a title. */
function firstText(...texts: readonly unknown[]): string {
  const lines = texts.map((text) => (typeof text === 'string' ? oneLine(text, maxTitleLength) : ''))
  return lines.find((line) => line !== '') ?? ''
}

function clean(value: { readonly [name: string]: Json | undefined }): JsonObject {
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  )
}
