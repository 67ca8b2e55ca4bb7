import type { JsonSchema } from '../contract/base/schema.ts'
import type { Compatibility, Deprecation, Permission } from '../contract/tool/tool.ts'

/** `<home>/tools/*.json`: one command as a tool, as its published schema has it. */
export interface ToolFile {
  $schema?: string
  name: string
  title?: string
  version: string
  description: string
  input_schema: JsonSchema
  output_schema?: JsonSchema
  permission: Permission
  tags: readonly string[]
  command_type: 'exec' | 'shell'
  /** The program; for `shell` the script. */
  command: string
  /** Each is one argument, or an option and the field that is its value. */
  args: readonly (string | readonly [option: string, value: string])[]
  output: 'result' | 'json' | 'text'
  working_dir: string
  env_allowlist: readonly string[]
  secrets: readonly string[]
  hosts: readonly string[]
  defer?: boolean
  /** Of each, absent means all. */
  compatibility?: Partial<Compatibility>
  deprecations?: readonly Deprecation[]
  timeout_ms?: number
  stdout_limit_bytes: number
  stderr_limit_bytes: number
}
