import type { Tool, ToolDefinition } from './tool.ts'
import type { Face } from './call.ts'
import type { Annotations } from './tool.ts'
import type { JsonSchema } from './schema.ts'

/** What to do when a canonical name is registered twice. */
export type DuplicatePolicy = 'error' | 'keep-first' | 'replace'

/** A registered tool. */
export interface Registered {
  readonly tool: Tool
  readonly definition: ToolDefinition
  /** Digest of the whole definition in canonical JSON. */
  readonly digest: string
  readonly source: string
  readonly state: 'registered' | 'enabled' | 'paused' | 'deprecated'
  /** Schemas of an imported tool that use more than the subset are validated in full. */
  readonly fullValidation: boolean
}

/** A tool as a model sees it: never permissions, consent or capabilities. */
export interface FacedTool {
  /** Canonical name. */
  readonly tool: string
  /** Name under this face. */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: Annotations
  readonly face: Face
}

/** All tools, as the road sees them. */
export interface Registry {
  /** By canonical name. */
  find(name: string): Registered | undefined
  /** By familiar name. */
  findFamiliar(name: string): Registered | undefined
  /** In canonical order: by name, byte by byte. */
  list(): readonly Registered[]
  readonly size: number
}
