import { join } from 'node:path'
import { createRegistry } from '../../agents/definitions/create-registry.ts'
import type { AgentDefinition, AgentDefinitionRegistry } from '../../contract/services/agent-definition.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'

/** Where definitions of agents come from, beside those of Handrail. Unknown fields are refused. */
export interface AgentDefinitionOptions {
  /** Those of the program. */
  definitions?: readonly AgentDefinition[]
  /** The home folder, whose `agents/*.md` the person wrote. Absolute. Default: none. */
  home?: string
  /** Whether the `.claude/agents/*.md` of a project count. Default true. */
  projectFiles?: boolean
}

const fields: readonly (keyof AgentDefinitionOptions)[] = ['definitions', 'home', 'projectFiles']

/** The definitions of agents. Files are read when it is asked. Throws a SetupError with every issue of the options. */
export function createAgentDefinitionRegistry(options: AgentDefinitionOptions = {}): AgentDefinitionRegistry {
  const { definitions = [], home, projectFiles = true } = options
  const issues: Issue[] = findUnknownFields(options, fields)
  const wrong = (pointer: string, message: string) => issues.push({ pointer, code: 'wrong_type', message })
  if (!Array.isArray(definitions)) wrong('/definitions', 'Give a list of definitions.')
  if (home !== undefined && typeof home !== 'string') wrong('/home', 'Give the path of a folder.')
  if (typeof projectFiles !== 'boolean') wrong('/projectFiles', 'Give true or false.')
  if (issues.length > 0)
    throw new SetupError(
      'invalid_options',
      'These options of createAgentDefinitionRegistry cannot be used:',
      issues,
    )
  const folder = home === undefined ? undefined : join(home, 'agents')
  return createRegistry({ definitions, folder, projectFiles, checker: createSchemaChecker() })
}
