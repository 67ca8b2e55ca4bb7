import type { JsonSchema } from '../../contract/base/schema.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import type { Template } from './template.ts'

/** A part of a composition, with everything that is known of it when it is defined. */
export interface ComposedPart {
  readonly part: string
  readonly definition: ToolDefinition
  /** What it returns: of a long tool, in the end. */
  readonly returns: JsonSchema | undefined
  readonly input: Template
  /** Parts that have to end before it: those that it has values from, and those that it is said to come after. */
  readonly after: readonly string[]
}

/** What a composition does: its parts, each behind those that it has values from. */
export interface Composition {
  readonly name: string
  readonly inputSchema: JsonSchema
  readonly parts: readonly ComposedPart[]
  readonly output: Template
}
