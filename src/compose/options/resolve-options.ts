import type { RuntimeLimits } from '../../contract/configuration.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { Bounds } from '../../contract/policy.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import { defaultSensitivePaths } from '../../policy/sensitive-paths.ts'
import type { TenantContext } from '../../runtime/state/scope.ts'
import { checkOptions } from './check-options.ts'
import { pickEnvironment } from './pick-environment.ts'
import { realPlace, resolvePlaces, type Places } from './resolve-places.ts'
import type { AgentOptions } from './agent-options.ts'
import type { RuntimeOptions } from './runtime-options.ts'

/** Options with every default filled in and every path absolute. */
export interface ResolvedOptions {
  agents: AgentOptions
  project: string
  home: string
  tmp: string
  bounds: Bounds
  limits: TenantContext['limits']
  sensitivePaths: readonly string[]
  disallowedTools: readonly string[]
  env: Readonly<Record<string, string>>
  now: () => number
  tick: () => number
}

const defaultLimits: TenantContext['limits'] = {
  defaultTimeoutMs: 120_000,
  maxTimeoutMs: 600_000,
  maxBytesIn: 2 * 1024 * 1024,
  maxBytesOut: 8 * 1024 * 1024,
  inlineBytes: 32 * 1024,
  artifactBytes: 256 * 1024 * 1024,
  parallelReads: 10,
  parallelAgents: 4,
  agentsPerSession: 8,
  callsPerSession: undefined,
  repeatsPerSession: 50,
  approvalTimeoutMs: 600_000,
  pendingApprovalMs: 86_400_000,
  elicitationTimeoutMs: 600_000,
  approvalTtlMs: 60_000,
  abortGraceMs: 2_000,
  idempotencyWindowMs: 86_400_000,
}

/** Checks options and fills in defaults. Throws a SetupError with every issue. */
export function resolveRuntimeOptions(options: RuntimeOptions, checker: SchemaChecker): ResolvedOptions {
  return resolve(options, checkOptions(options, checker))
}

/** The same for options that were checked, with the places of one tenant. Throws a SetupError where those are not there. */
export function resolveTenantOptions(options: RuntimeOptions): ResolvedOptions {
  return resolve(options, [])
}

function resolve(options: RuntimeOptions, issues: readonly Issue[]): ResolvedOptions {
  const { places, issues: missing } = resolvePlaces(options)
  refuse([...issues, ...missing])
  const own = options.projectConfiguration ?? {}
  const limits = tightenLimits(withDefaults(options.limits ?? {}), own.limits ?? {})
  return {
    project: places.project,
    home: places.home,
    tmp: places.tmp,
    limits,
    bounds: toBounds(places, options, limits),
    sensitivePaths: withRealPlaces(
      [...(options.sensitivePaths ?? []), ...(own.sensitivePaths ?? [])],
      places.home,
    ),
    disallowedTools: [...(options.disallowedTools ?? []), ...(own.disallowedTools ?? [])],
    agents: options.agents ?? {},
    env: pickEnvironment(options.env ?? [], places.writeRoots),
    now: options.now ?? Date.now,
    tick: options.now ?? (() => performance.now()),
  }
}

function refuse(issues: readonly Issue[]): void {
  const [first] = issues
  if (first === undefined) return
  if (issues.length === 1 && first.code === 'project_missing')
    throw new SetupError('project_missing', first.message)
  throw new SetupError('invalid_options', 'These options cannot be used:', issues)
}

function toBounds(
  places: Places,
  { tmp = false, network = {} }: RuntimeOptions,
  limits: TenantContext['limits'],
): Bounds {
  return {
    capabilities: {
      fs: { read: places.readRoots, write: places.writeRoots },
      net: { hosts: network.hosts ?? ['*'] },
      proc: { executables: ['*'] },
      browser: true,
      tmp,
      secrets: ['*'],
    },
    limits: {
      timeoutMs: limits.maxTimeoutMs,
      maxBytesIn: limits.maxBytesIn,
      maxBytesOut: limits.maxBytesOut,
    },
  }
}

/** Rules and operations speak of real paths, so a sensitive place that is a link counts under both names. */
function withRealPlaces(patterns: readonly string[], home: string): string[] {
  const links = [...defaultSensitivePaths, ...patterns]
    .filter((pattern) => /^(~\/|\/)/.test(pattern))
    .map((pattern) => pattern.replace(/^~(?=\/)/, () => home))
    .map((path) => ({ path, real: realPlace(path) }))
    .filter(({ path, real }) => path !== real)
  return [...patterns, ...links.map(({ real }) => real)]
}

function withDefaults(given: RuntimeLimits): TenantContext['limits'] {
  const set = Object.entries(given).filter(([, limit]) => limit !== undefined)
  return { ...defaultLimits, ...Object.fromEntries(set) }
}

/** A project's own limits count only if they are lower. */
function tightenLimits(limits: TenantContext['limits'], own: RuntimeLimits): TenantContext['limits'] {
  const tightened: Record<string, number | undefined> = { ...limits }
  for (const [name, limit] of Object.entries(own)) {
    const current = tightened[name]
    if (typeof limit === 'number' && (current === undefined || limit < current)) tightened[name] = limit
  }
  return { ...limits, ...tightened }
}
