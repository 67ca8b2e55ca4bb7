import type { Approver } from '../contract/approval.ts'
import type { Configuration, ProjectConfiguration, RuntimeLimits } from '../contract/configuration.ts'
import { SetupError } from '../contract/errors.ts'
import type { RuntimeEvent } from '../contract/events.ts'
import type { Hook } from '../contract/hook.ts'
import type { Fault } from '../contract/json.ts'
import type { Bounds, Policy } from '../contract/policy.ts'
import type { DuplicatePolicy } from '../contract/registry.ts'
import type { SchemaChecker } from '../contract/schema.ts'
import type { Tool, ToolSource } from '../contract/tool.ts'
import { defaultSensitivePaths } from '../policy/sensitive-paths.ts'
import type { Ground } from '../runtime/road.ts'
import { checkOptions } from './check-options.ts'
import { pickEnvironment } from './pick-environment.ts'
import { realPlace, resolvePlaces, type Places } from './resolve-places.ts'

/** What `createRuntime` takes. Everything is optional; unknown fields are refused. */
export interface RuntimeOptions extends Omit<Configuration, '$schema' | 'hooks'> {
  /** The project root. Default: the current directory. Must exist. */
  project?: string
  /** Tools, and sources of tools such as `codeTools()`. Default: none. */
  tools?: readonly (Tool | ToolSource)[]
  /** Rules beside the safe defaults. Default: none, so that every write asks. */
  policy?: Policy
  /** What the project's own file says; it can only tighten. */
  projectConfiguration?: ProjectConfiguration
  /** Asks a person. Without it, what needs asking is denied. */
  approve?: Approver
  /** `memory` (default) keeps the last 10,000 records; a path keeps all in SQLite. */
  store?: 'memory' | { path: string }
  /** Where large outputs go. Default: memory, or `artifacts` beside the SQLite file. */
  artifacts?: { dir: string }
  /** Where the run archive is written. Default: nowhere. */
  archive?: { dir: string }
  /** Hooks in code, and command hooks as the configuration file has them. */
  hooks?: readonly (Hook | NonNullable<Configuration['hooks']>[number])[]
  /** Values that tools may ask for by name; redacted wherever they turn up. */
  secrets?: Readonly<Record<string, string>>
  /** Further services that tools may name in `needs`. */
  services?: Readonly<Record<string, unknown>>
  /** Default `error`. */
  duplicates?: DuplicatePolicy
  /** Sees every event of every session. */
  onEvent?: (event: RuntimeEvent) => void
  /** Gets causes that no caller may see. Default: one line on stderr each. */
  onFault?: (fault: { call: string; tool: string; cause: unknown }) => void
  /** What `~` means. Default: the user's home directory. */
  home?: string
  /** Milliseconds since the epoch. Default: the system clock. */
  now?: () => number
}

const fields: readonly (keyof RuntimeOptions)[] = [
  'project',
  'tools',
  'policy',
  'projectConfiguration',
  'approve',
  'store',
  'artifacts',
  'archive',
  'hooks',
  'secrets',
  'services',
  'duplicates',
  'onEvent',
  'onFault',
  'home',
  'now',
  'readRoots',
  'writeRoots',
  'tmp',
  'sensitivePaths',
  'env',
  'limits',
  'allowedTools',
  'disallowedTools',
]

/** Options with every default filled in and every path absolute. */
export interface ResolvedOptions {
  project: string
  home: string
  tmp: string
  bounds: Bounds
  limits: Ground['limits']
  sensitivePaths: readonly string[]
  disallowedTools: readonly string[]
  env: Readonly<Record<string, string>>
  now: () => number
}

const defaultLimits: Ground['limits'] = {
  defaultTimeoutMs: 120_000,
  maxTimeoutMs: 600_000,
  maxBytesIn: 2 * 1024 * 1024,
  maxBytesOut: 8 * 1024 * 1024,
  inlineBytes: 32 * 1024,
  parallelReads: 10,
  parallelAgents: 4,
  callsPerSession: undefined,
  repeatsPerSession: 50,
  approvalTimeoutMs: 600_000,
  approvalTtlMs: 60_000,
  abortGraceMs: 2_000,
  idempotencyWindowMs: 86_400_000,
}

/** Checks options and fills in defaults. Throws a SetupError with every fault. */
export function resolveRuntimeOptions(options: RuntimeOptions, checker: SchemaChecker): ResolvedOptions {
  const { places, faults: missing } = resolvePlaces(options)
  refuse([...checkOptions(options, fields, checker), ...missing])
  const own = options.projectConfiguration ?? {}
  const limits = tightenLimits(withDefaults(options.limits ?? {}), own.limits ?? {})
  return {
    project: places.project,
    home: places.home,
    tmp: places.tmp,
    limits,
    bounds: toBounds(places, options.tmp ?? false, limits),
    sensitivePaths: withRealPlaces(
      [...(options.sensitivePaths ?? []), ...(own.sensitivePaths ?? [])],
      places.home,
    ),
    disallowedTools: [...(options.disallowedTools ?? []), ...(own.disallowedTools ?? [])],
    env: pickEnvironment(options.env ?? [], places.writeRoots),
    now: options.now ?? Date.now,
  }
}

function refuse(faults: readonly Fault[]): void {
  const [first] = faults
  if (first === undefined) return
  if (faults.length === 1 && first.code === 'project_missing')
    throw new SetupError('project_missing', first.message)
  throw new SetupError('invalid_options', 'These options cannot be used:', faults)
}

function toBounds(places: Places, tmp: boolean, limits: Ground['limits']): Bounds {
  return {
    capabilities: {
      fs: { read: places.readRoots, write: places.writeRoots },
      net: { hosts: ['*'] },
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

function withDefaults(given: RuntimeLimits): Ground['limits'] {
  const set = Object.entries(given).filter(([, limit]) => limit !== undefined)
  return { ...defaultLimits, ...Object.fromEntries(set) }
}

/** A project's own limits count only where they are lower. */
function tightenLimits(limits: Ground['limits'], own: RuntimeLimits): Ground['limits'] {
  const tightened: Record<string, number | undefined> = { ...limits }
  for (const [name, limit] of Object.entries(own)) {
    const current = tightened[name]
    if (typeof limit === 'number' && (current === undefined || limit < current)) tightened[name] = limit
  }
  return { ...limits, ...tightened }
}
