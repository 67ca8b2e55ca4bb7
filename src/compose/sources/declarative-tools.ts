import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Tool, ToolSource } from '../../contract/tool/tool.ts'
import { readToolFolder } from '../../declarative/read-tool-folder.ts'
import { toSource } from '../../declarative/to-source.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'

/**
 * The tools that a person declares as files, as they are now: one command each, or several tools as one. A file that is at fault is reported and left out. Never hand
 * it a folder of a project: a process that may write there could declare what runs.
 */
export function declarativeTools({
  dir = join(homedir(), '.handrail', 'tools'),
  tools = [],
}: {
  /** Default `~/.handrail/tools`. */
  dir?: string
  /** What files may make one tool of, beside each other. Default: nothing. */
  tools?: readonly (Tool | ToolSource)[]
} = {}): ToolSource {
  return toSource(
    readToolFolder(dir, { checker: createSchemaChecker(), env: process.env, known: toKnown(tools) }),
  )
}

/** Tools by their names. */
export function toKnown(tools: readonly (Tool | ToolSource)[]): ReadonlyMap<string, Tool> {
  const all = tools.flatMap((given) => ('list' in given ? given.list() : [given]))
  return new Map(all.map((tool) => [tool.definition.name, tool]))
}
