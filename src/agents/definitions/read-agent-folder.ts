import { readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentDefinitionIssue } from '../../contract/services/agent-definition.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import { readWholeFile } from '../../kit/read-whole-file.ts'
import { checkDefinition, fieldNames, type CheckedDefinition } from './check-definition.ts'
import type { FrontMatter } from './parse-front-matter.ts'

/** A folder of definitions. */
export interface AgentFolder {
  readonly path: string
  readonly origin: 'home' | 'project'
  /** It lies in there, links resolved: a project does not show what lies elsewhere. */
  readonly inside?: string
}

/** A definition of a file, with what is wrong with the file. */
export interface ReadDefinition extends Omit<CheckedDefinition, 'issues'> {
  readonly file: string
  readonly issues: readonly AgentDefinitionIssue[]
}

const maxBytes = 256 * 1024
const mostFiles = 500

/** Reads every `*.md` of a folder, in the order of their names. One that is at fault spoils no other. A folder that is not there holds nothing. */
export async function readAgentFolder(
  folder: AgentFolder,
  checker: SchemaChecker,
): Promise<readonly ReadDefinition[]> {
  const listed = listFiles(folder)
  if ('message' in listed) return [faulty(folder.path, [{ message: listed.message }])]
  const { parseFrontMatter } = await import('./parse-front-matter.ts')
  return listed.names.map((name) => {
    const file = join(folder.path, name)
    const read = readWholeFile(file, maxBytes)
    if ('issue' in read) return faulty(file, [{ message: read.issue }])
    const parsed = parseFrontMatter(read.text)
    if ('issue' in parsed) return faulty(file, [parsed.issue])
    return toDefinition(parsed, { file, origin: folder.origin, checker })
  })
}

function faulty(file: string, issues: readonly { message: string; line?: number }[]): ReadDefinition {
  return {
    file,
    definition: undefined,
    overrides: undefined,
    issues: issues.map((issue) => ({ file, ...issue, leftOut: true })),
  }
}

function listFiles({ path, inside }: AgentFolder): { names: readonly string[] } | { message: string } {
  try {
    if (inside !== undefined && !isInside(realpathSync(path), realpathSync(inside)))
      return { message: 'The folder is a link out of the project, so nothing in it is read.' }
    const names = readdirSync(path).filter((name) => name.endsWith('.md') && !name.startsWith('.'))
    if (names.length > mostFiles)
      return { message: `The folder has ${names.length} definitions, and at most ${mostFiles} are read.` }
    return { names: names.sort() }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { names: [] }
      : { message: `The folder cannot be read (${code}). Mend its permissions or remove it.` }
  }
}

/** Fields of other agents that say something which counts for nothing here. */
const ignored: ReadonlyMap<string, string> = new Map([
  ['hooks', 'Hooks stand in config.json.'],
  ['mcpServers', 'MCP servers stand in mcp.json.'],
  ['skills', 'Skills are not loaded by a definition.'],
  ['memory', 'A definition has no memory of its own.'],
  ['background', 'Whether an agent runs in the background is said when it is started.'],
  ['initialPrompt', 'What an agent starts with is said when it is started.'],
])

/** Fields that only say how an agent is shown. */
const silent: ReadonlySet<string> = new Set(['color', 'effort', 'version', 'author', 'license'])

interface FileContext {
  readonly file: string
  readonly origin: AgentFolder['origin']
  readonly checker: SchemaChecker
}

function toDefinition({ fields, body }: FrontMatter, context: FileContext): ReadDefinition {
  const { file, origin, checker } = context
  const values: Record<string, unknown> = { instructions: body }
  const notes: AgentDefinitionIssue[] = []
  const lineOf = (field: string) => {
    const line = fields.get(field)?.line
    return line === undefined ? {} : { line }
  }
  for (const [field, { value }] of fields) {
    if (fieldNames.some((name) => name === field && name !== 'instructions' && name !== 'mode'))
      // A list that is written and empty does not mean the default.
      values[field] = value ?? (field === 'tools' || field === 'disallowedTools' ? '' : undefined)
    else if (field === 'permissionMode' && value === 'plan') values['mode'] = 'plan'
    else if (!silent.has(field))
      notes.push({ file, field, ...lineOf(field), message: adviceFor(field, value), leftOut: false })
  }
  const { definition, overrides, issues } = checkDefinition({ origin, fields: values, file }, checker)
  const own = issues.map((issue) => ({
    file,
    ...lineOf(issue.field === 'mode' ? 'permissionMode' : issue.field),
    ...issue,
  }))
  return { file, definition, overrides, issues: [...own, ...notes] }
}

function adviceFor(field: string, value: unknown): string {
  if (field === 'permissionMode')
    return `"permissionMode: ${String(value)}" counts for nothing here: no definition widens what its agent may do.`
  const why = ignored.get(field)
  return why === undefined
    ? `There is no field "${field}", so it counts for nothing.`
    : `"${field}" counts for nothing here. ${why}`
}
