import type {
  Capabilities,
  ConsentPolicy,
  Permission,
  Safety,
  SideEffect,
  ToolDefinition,
} from '../../contract/tool/tool.ts'
import type { ManifestSpec } from '../to-definition.ts'

/** What a composition may do: what one of its parts may, and no more. */
export function uniteEffects(parts: readonly ToolDefinition[]): Omit<ManifestSpec, 'name' | 'description'> {
  const sideEffect = uniteSideEffects(parts.map((part) => part.sideEffect))
  const changes = changing.includes(sideEffect) || parts.some((part) => part.permission === 'write')
  const permission: Permission = changes ? 'write' : 'readonly'
  const safety = mostSafety(parts.map((part) => part.safety))
  const isRequired =
    permission === 'write' || safety === 'high' || parts.some(({ consent }) => consent.required)
  // What a yes covers is one composition with this preview; each part has a scope of its own.
  const consent: ConsentPolicy = isRequired ? { required: true, scope: 'once' } : { required: false }
  return {
    permission,
    sideEffect,
    safety,
    consent,
    scopes: unique(parts.flatMap(({ scopes }) => scopes)),
    capabilities: uniteCapabilities(parts.map(({ capabilities }) => capabilities)),
    limits: uniteLimits(parts.map(({ limits }) => limits)),
    concurrency: parts.some(({ concurrency }) => concurrency === 'serial') ? 'serial' : 'parallel',
    ...uniteKeys(parts, permission),
    tags: unique(parts.flatMap(({ tags }) => tags.filter((tag) => tag === 'dangerous' || tag === 'agent'))),
    annotations: {
      readOnlyHint: permission === 'readonly',
      destructiveHint: parts.some(({ annotations }) => annotations.destructiveHint === true),
      openWorldHint: parts.some(({ annotations }) => annotations.openWorldHint === true),
    },
  }
}

/** What a tool that only reads cannot have. */
const changing: readonly SideEffect[] = ['write', 'filesystem', 'process']

const safeties: readonly Safety[] = ['low', 'medium', 'high']

function mostSafety(all: readonly Safety[]): Safety {
  return safeties.findLast((safety) => all.includes(safety)) ?? 'low'
}

/** What else each side effect covers, from the least on; the first that covers all is the union. */
const covered: readonly (readonly [SideEffect, readonly SideEffect[]])[] = [
  ['none', ['none']],
  ['read', ['none', 'read']],
  ['network', ['none', 'read', 'network']],
  ['filesystem', ['none', 'read', 'filesystem']],
  ['browser', ['none', 'read', 'network', 'browser']],
  ['write', ['none', 'read', 'network', 'filesystem', 'write']],
  ['process', ['none', 'read', 'network', 'filesystem', 'browser', 'write', 'process']],
]

function uniteSideEffects(all: readonly SideEffect[]): SideEffect {
  return covered.find(([, covers]) => all.every((effect) => covers.includes(effect)))?.[0] ?? 'process'
}

function uniteCapabilities(all: readonly Capabilities[]): Capabilities {
  return {
    fs: {
      read: unique(all.flatMap(({ fs }) => fs.read)),
      write: unique(all.flatMap(({ fs }) => fs.write)),
    },
    net: { hosts: unique(all.flatMap(({ net }) => net.hosts)) },
    proc: { executables: unique(all.flatMap(({ proc }) => proc.executables)) },
    browser: all.some(({ browser }) => browser),
    tmp: all.some(({ tmp }) => tmp),
    // A part has its own secrets; the composition itself needs none.
    secrets: unique(all.flatMap(({ secrets }) => secrets)),
  }
}

/** Each part has its own time, and that of the composition stands still meanwhile. */
function uniteLimits(all: readonly ToolDefinition['limits'][]): Partial<ToolDefinition['limits']> {
  const sum = (of: (limits: ToolDefinition['limits']) => number) =>
    all.reduce((total, limits) => total + of(limits), 0)
  return {
    maxBytesIn: Math.max(...all.map(({ maxBytesIn }) => maxBytesIn)),
    maxBytesOut: sum(({ maxBytesOut }) => maxBytesOut),
    maxFiles: sum(({ maxFiles }) => maxFiles),
    maxDepth: Math.max(...all.map(({ maxDepth }) => maxDepth)),
    concurrency: Math.min(...all.map(({ concurrency }) => concurrency)),
  }
}

/** A part that wants a key of its caller has it from the composition. */
function uniteKeys(
  parts: readonly ToolDefinition[],
  permission: Permission,
): Pick<ManifestSpec, 'idempotency' | 'keyFrom'> {
  const wants = parts.some(
    ({ idempotency, keyFrom = 'call' }) => idempotency === 'keyed' && keyFrom === 'call',
  )
  if (wants) return { idempotency: 'keyed', keyFrom: 'call' }
  return { idempotency: permission === 'write' ? 'optional' : 'none' }
}

function unique<Value>(values: readonly Value[]): Value[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}
