import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import type { JsonObject } from '../../contract/base/json.ts'
import { toToolName } from '../../mcp/upstream/base/tool-names.ts'
import { toSegment } from '../../kit/names/name-segment.ts'
import type { DecidedAs, MappedCall, NativeAgent, ToolMessage } from './native-agent.ts'
import { fieldOf, valuesOf } from './read-fields.ts'

/** What a call of an agent is decided as. */
export interface DecidedCall {
  /** All of them must be let through. */
  readonly calls: readonly MappedCall[]
  /** What it is decided as if one of the tools is not there. */
  readonly otherwise: MappedCall
  /** Whether the agent's own rules decide about what the policy lets through. */
  readonly harmless: boolean
}

/**
 * Finds Handrail's tools for a call of an agent: a tool of the same kind, else one that stands for the agent's own, under the name `agent.<tool>`, or
 * `mcp.<server>.<tool>` for one of an MCP server. `base` is what relative paths start from.
 */
export function mapCall(agent: NativeAgent, message: ToolMessage, base: string): DecidedCall {
  const { tool, input, server } = message
  const harmless = server === undefined && agent.harmless.has(tool)
  const name = server === undefined ? `agent.${toSegment(tool, 120)}` : toToolName(server.name, server.tool)
  const otherwise: MappedCall = { tool: name, input, own: { harmless } }
  const mapped = server === undefined && !harmless ? findCalls(agent, message) : undefined
  if (mapped === undefined) return { calls: [otherwise], otherwise, harmless }
  const calls = mapped.flatMap((call) => withWholePaths(call, base))
  const escalates = (agent.escalates ?? []).some((field) => Boolean(fieldOf(input, field)))
  return { calls: escalates ? [otherwise, ...calls] : calls, otherwise, harmless }
}

function findCalls(agent: NativeAgent, { tool, input }: ToolMessage): readonly MappedCall[] | undefined {
  const known = Object.hasOwn(agent.tools, tool) ? agent.tools[tool] : undefined
  if (known === undefined) return undefined
  if (typeof known === 'function') return known(input)?.map(fromItsFolder)
  const [first = ''] = Object.keys(known.fields)
  // Without what the tool is about, nothing is known of the call: an agent may call the field by another name by now.
  const readings = pick(input, known).filter((picked) => Object.hasOwn(picked, first) || known.tool === 'LS')
  if (readings.length === 0) return undefined
  return readings.map((picked) => fromItsFolder({ tool: known.tool, input: picked }))
}

/** What decides; the rest of the input only says how the result is shown. One for each value, if a field has several under its names. */
function pick(input: JsonObject, { fields }: DecidedAs): JsonObject[] {
  let picked: JsonObject[] = [{}]
  for (const [field, names] of Object.entries(fields)) {
    const values = valuesOf(input, names)
    if (values.length > 0)
      picked = picked.flatMap((each) => values.map((value) => ({ ...each, [field]: value })))
  }
  return picked
}

/** Tools that look at a folder, by default at the one that the agent is in. */
const looks: ReadonlySet<string> = new Set(['Glob', 'Grep', 'LS'])

function fromItsFolder({ tool, input }: MappedCall): MappedCall {
  return { tool, input: looks.has(tool) ? withFolder(input) : input }
}

/** A pattern that leads out of the folder is about the folder that it leads to. */
function withFolder(picked: JsonObject): JsonObject {
  const { path = '.', pattern } = picked
  if (typeof path !== 'string') return picked
  const leadsOut =
    typeof pattern === 'string' && (isAbsolute(pattern) || /(?:^|[\\/{,])\.\.(?:[\\/},]|$)/.test(pattern))
  if (!leadsOut) return { ...picked, path }
  const start = pattern.slice(0, pattern.search(/[*?[{]|$/))
  // How far up it leads depends on what it finds.
  if (pattern.slice(start.length).includes('..')) return { ...picked, path: '/', pattern: '*' }
  const folder = start.slice(0, Math.max(start.lastIndexOf('/'), 0))
  return { ...picked, path: isAbsolute(pattern) ? folder || '/' : join(path, folder), pattern: '*' }
}

/** Fields of Handrail's tools that are paths. */
const pathFields = ['path', 'file_path', 'notebook_path', 'from', 'to'] as const

/**
 * With absolute paths, which start from the folder that the agent is in. An agent may take a `~` for the home folder, and white space around a path for
 * none: what it may mean has to be let through as well as what it says.
 */
function withWholePaths(call: MappedCall, base: string): MappedCall[] {
  const said = withPaths(call, (path) => toWhole(path, base))
  const meant = withPaths(call, (path) => toWhole(expandPath(path), base))
  return pathFields.every((field) => said.input[field] === meant.input[field]) ? [said] : [said, meant]
}

function withPaths(call: MappedCall, toPath: (path: string) => string): MappedCall {
  const input = { ...call.input }
  for (const field of pathFields) {
    const path = input[field]
    if (typeof path === 'string' && path !== '') input[field] = toPath(path)
  }
  return { ...call, input }
}

function toWhole(path: string, base: string): string {
  return isAbsolute(path) ? path : resolve(base, path)
}

function expandPath(path: string): string {
  const trimmed = path.trim()
  return /^~(?:\/|$)/.test(trimmed) ? join(homedir(), trimmed.slice(1)) : trimmed
}
