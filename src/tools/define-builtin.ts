import type { JsonObject } from '../contract/base/json.ts'
import type { Plan, PlanContext } from '../contract/base/plan.ts'
import type { ToolOutput } from '../contract/base/result.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import type {
  Capabilities,
  FamiliarFace,
  Limits,
  Tool,
  ToolContext,
  ToolDefinition,
} from '../contract/base/tool.ts'
import { markBuiltin } from '../kit/builtin-tools.ts'
import type { ValueOf } from './value-of.ts'

/** The manifest of a built-in tool: what has a default may be left out. */
export interface BuiltinManifest extends Pick<
  ToolDefinition,
  'name' | 'title' | 'description' | 'tags' | 'permission' | 'sideEffect' | 'safety' | 'scopes' | 'needs'
> {
  outputSchema: JsonSchema
  /** Default: not required. */
  consent?: ToolDefinition['consent']
  /** Default: none. */
  capabilities?: {
    read?: readonly string[]
    write?: readonly string[]
    hosts?: readonly string[]
    executables?: readonly string[]
    secrets?: readonly string[]
  }
  /** Defaults: 30,000 ms, 2 MiB in and out, 8 files, depth 4, 10 at a time. */
  limits?: Partial<Limits>
  /** Default: none. */
  annotations?: ToolDefinition['annotations']
  /** Default: none. */
  metadata?: JsonObject
  /** Default: to an artifact. */
  longText?: ToolDefinition['longText']
}

/** A built-in tool: its manifest, and three functions that see each other's types. */
export interface Builtin<Schema extends JsonSchema, Input, Planned> extends BuiltinManifest {
  inputSchema: Schema
  familiar?: FamiliarFace
  /** Why it cannot be used here. Default: it can. */
  unavailable?: string | undefined
  /** The checked input as idiomatic values. Throws a `ToolFailure` for what a schema cannot say. */
  decode(input: ValueOf<Schema>): Input
  /** What the call would do, and what `run` needs to do exactly that. */
  plan(input: Input, context: PlanContext): Promise<Plan & { planned: Planned }>
  run(input: Input, context: ToolContext, planned: Planned): Promise<ToolOutput>
}

/** A tool from its manifest with the defaults filled in. Version 1.0.0, parallel, not keyed. */
export function defineBuiltin<const Schema extends JsonSchema, Input, Planned>(
  builtin: Builtin<Schema, Input, Planned>,
): Tool {
  const { familiar, unavailable } = builtin
  return markBuiltin({
    definition: toDefinition(builtin, builtin.inputSchema),
    ...(familiar !== undefined && { familiar }),
    ...(unavailable !== undefined && { unavailable }),
    // The road checks every input against the schema before it decodes it, and hands `plan` and `run` what came out.
    decode: (input) => builtin.decode(input as ValueOf<Schema>),
    plan: (input, context) => builtin.plan(input as Input, context),
    run(input, context) {
      if (context.planned === undefined) throw new Error(`"${builtin.name}" runs only what it has planned.`)
      return builtin.run(input as Input, context, context.planned as Planned)
    },
  })
}

function toDefinition(manifest: BuiltinManifest, inputSchema: JsonSchema): ToolDefinition {
  return {
    name: manifest.name,
    title: manifest.title,
    version: '1.0.0',
    description: manifest.description,
    tags: manifest.tags,
    metadata: manifest.metadata ?? {},
    inputSchema,
    outputSchema: manifest.outputSchema,
    permission: manifest.permission,
    sideEffect: manifest.sideEffect,
    safety: manifest.safety,
    consent: manifest.consent ?? { required: false },
    scopes: manifest.scopes,
    capabilities: toCapabilities(manifest.capabilities ?? {}),
    limits: { ...defaultLimits, ...manifest.limits },
    concurrency: 'parallel',
    idempotency: manifest.permission === 'write' ? 'optional' : 'none',
    keyFrom: undefined,
    annotations: manifest.annotations ?? {},
    compatibility: { providers: [], models: [] },
    deprecations: [],
    longText: manifest.longText ?? 'artifact',
    cost: 0,
    needs: manifest.needs,
  }
}

function toCapabilities(wanted: NonNullable<BuiltinManifest['capabilities']>): Capabilities {
  return {
    fs: { read: wanted.read ?? [], write: wanted.write ?? [] },
    net: { hosts: wanted.hosts ?? [] },
    proc: { executables: wanted.executables ?? [] },
    browser: false,
    // The operator says whether it is a root at all.
    tmp: wanted.write !== undefined,
    secrets: wanted.secrets ?? [],
  }
}

const mebibyte = 1024 * 1024

const defaultLimits: Limits = {
  timeoutMs: 30_000,
  maxBytesIn: 2 * mebibyte,
  maxBytesOut: 2 * mebibyte,
  maxFiles: 8,
  maxDepth: 4,
  concurrency: 10,
}
