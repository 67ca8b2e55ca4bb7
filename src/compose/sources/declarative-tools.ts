import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ToolSource } from '../../contract/tool/tool.ts'
import { readToolFolder } from '../../declarative/read-tool-folder.ts'
import { toSource } from '../../declarative/to-source.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'

/**
 * The tools that a person declares as files, one command each, as they are now. A file that is at fault is reported and left out. Never hand
 * it a folder of a project: a process that may write there could declare what runs.
 */
export function declarativeTools({
  dir = join(homedir(), '.handrail', 'tools'),
}: {
  /** Default `~/.handrail/tools`. */
  dir?: string
} = {}): ToolSource {
  return toSource(readToolFolder(dir, { checker: createSchemaChecker(), env: process.env }))
}
