import { SetupError } from '../contract/base/errors.ts'
import type { Issue, JsonObject } from '../contract/base/json.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import type {
  Annotations,
  Capabilities,
  Compatibility,
  ConsentPolicy,
  Deprecation,
  Limits,
  Permission,
  Safety,
  SideEffect,
  ToolDefinition,
} from '../contract/tool/tool.ts'
import { findUnknownFields } from '../kit/json/find-unknown-fields.ts'

/** The manifest as an engineer writes it: a name, a description, and what differs from the defaults. */
export interface ManifestSpec {
  /** Canonical, dotted: `shop.orders.create`; or what comes after the `namespace`. */
  name: string
  /** What comes before the name: `{ namespace: 'shop', name: 'refund' }` is `shop.refund`. Default: nothing, so that the name is dotted itself. */
  namespace?: string
  /** Default: the last part of the name. */
  title?: string
  /** SemVer. Default `1.0.0`. */
  version?: string
  /** What a model reads to decide whether to use the tool. */
  description: string
  tags?: readonly string[]
  metadata?: JsonObject
  /** Default `write`: a tool must say that it is harmless. */
  permission?: Permission
  /** Default `none` for a readonly tool, `write` for others. */
  sideEffect?: SideEffect
  /** Default `low` for the side effects none and read, `high` for tools tagged `dangerous`, else `medium`. */
  safety?: Safety
  /** Default: required for write tools and for high safety. */
  consent?: ConsentPolicy
  scopes?: readonly { resource: string; action: string }[]
  /** Default: nothing. */
  capabilities?: Partial<Omit<Capabilities, 'fs' | 'net' | 'proc'>> & {
    fs?: Partial<Capabilities['fs']>
    net?: Partial<Capabilities['net']>
    proc?: Partial<Capabilities['proc']>
  }
  /** Defaults: the runtime's time limit, 2 MiB in, 8 MiB out, 8 files, depth 4, 64 at a time. */
  limits?: Partial<Limits>
  /** Default `parallel`. */
  concurrency?: 'parallel' | 'serial'
  /** Whether a call runs once for its idempotency key: `keyed` wants one, `optional` takes one, `none` refuses one. Default `none`. */
  idempotency?: 'keyed' | 'optional' | 'none'
  /** For keyed tools: `call`, or the RFC 6901 pointer of a required input field, such as `/order/id`. */
  keyFrom?: string
  annotations?: Annotations
  compatibility?: Partial<Compatibility>
  deprecations?: readonly Deprecation[]
  /** `inline` keeps long text in the result, for what exists elsewhere, such as a file. Default `artifact`. */
  longText?: ToolDefinition['longText']
  /** What one call costs against budgets of the unit `cost`, a whole number. Default 0. */
  cost?: number
}

const manifestFields: readonly (keyof ManifestSpec)[] = [
  'namespace',
  'name',
  'title',
  'version',
  'description',
  'tags',
  'metadata',
  'permission',
  'sideEffect',
  'safety',
  'consent',
  'scopes',
  'capabilities',
  'limits',
  'concurrency',
  'idempotency',
  'keyFrom',
  'annotations',
  'compatibility',
  'deprecations',
  'longText',
  'cost',
]

/** What other libraries call the fields of a tool. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ['parameters', 'input'],
  ['inputSchema', 'input'],
  ['args', 'input'],
  ['schema', 'input'],
  ['outputSchema', 'output'],
  ['execute', 'run'],
  ['handler', 'run'],
  ['func', 'run'],
  ['invoke', 'run'],
])

/** Throws a SetupError where there are issues in what should become a tool. */
export function refuseFaulty({ name }: ManifestSpec, issues: readonly Issue[]): void {
  if (issues.length > 0)
    throw new SetupError('invalid_definition', `"${String(name)}" cannot be a tool:`, issues)
}

/** Throws a SetupError for fields that are neither of the manifest nor among these. */
export function refuseUnknownSpec(spec: ManifestSpec, others: readonly string[]): void {
  const issues = findUnknownFields(spec, [...manifestFields, ...others], elsewhere)
  refuseFaulty(spec, issues)
}

/** Fills in every default. What the fields say is not checked here; registration checks everything at once. */
export function toDefinition(
  spec: ManifestSpec,
  schemas: { input: JsonSchema; output: JsonSchema | undefined; needs: readonly string[] },
): ToolDefinition {
  const name = spec.namespace === undefined ? spec.name : `${spec.namespace}.${spec.name}`
  const permission = spec.permission ?? 'write'
  const sideEffect = spec.sideEffect ?? (permission === 'readonly' ? 'none' : 'write')
  const safety = spec.safety ?? defaultSafety(sideEffect, spec.tags ?? [])
  return {
    name,
    title: spec.title ?? String(name).slice(String(name).lastIndexOf('.') + 1),
    version: spec.version ?? '1.0.0',
    description: spec.description,
    tags: spec.tags ?? [],
    metadata: spec.metadata ?? {},
    inputSchema: schemas.input,
    outputSchema: schemas.output,
    permission,
    sideEffect,
    safety,
    consent: spec.consent ?? { required: permission === 'write' || safety === 'high' },
    scopes: spec.scopes ?? [],
    capabilities: toCapabilities(spec.capabilities ?? {}),
    limits: {
      maxBytesIn: 2_097_152,
      maxBytesOut: 8_388_608,
      maxFiles: 8,
      maxDepth: 4,
      concurrency: 64,
      ...spec.limits,
    },
    concurrency: spec.concurrency ?? 'parallel',
    idempotency: spec.idempotency ?? 'none',
    keyFrom: spec.keyFrom,
    annotations: spec.annotations ?? {},
    compatibility: { providers: [], models: [], ...spec.compatibility },
    deprecations: spec.deprecations ?? [],
    longText: spec.longText ?? 'artifact',
    cost: spec.cost ?? 0,
    needs: schemas.needs,
  }
}

function defaultSafety(sideEffect: SideEffect, tags: readonly string[]): Safety {
  if (tags.includes('dangerous')) return 'high'
  return sideEffect === 'none' || sideEffect === 'read' ? 'low' : 'medium'
}

function toCapabilities(given: NonNullable<ManifestSpec['capabilities']>): Capabilities {
  return {
    browser: false,
    tmp: false,
    secrets: [],
    ...given,
    fs: { read: [], write: [], ...given.fs },
    net: { hosts: [], ...given.net },
    proc: { executables: [], ...given.proc },
  }
}
