import { realpathSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import type { Approver } from '../contract/approval.ts'
import type { Configuration, ProjectConfiguration, RuntimeLimits } from '../contract/configuration.ts'
import { SetupError } from '../contract/errors.ts'
import type { RuntimeEvent } from '../contract/events.ts'
import type { Hook } from '../contract/hook.ts'
import type { Fault } from '../contract/json.ts'
import type { Bounds, Policy } from '../contract/policy.ts'
import type { DuplicatePolicy } from '../contract/registry.ts'
import type { Tool, ToolSource } from '../contract/tool.ts'
import { nearestNames } from '../kit/nearest-names.ts'
import type { Ground } from '../runtime/road.ts'

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

const alwaysPassed = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL'] as const

/** Checks options and fills in defaults. Throws a SetupError with every fault. */
export function resolveRuntimeOptions(options: RuntimeOptions): ResolvedOptions {
  refuseUnknownFields(options, fields, 'createRuntime')
  const project = resolveProject(options.project ?? process.cwd())
  const home = options.home ?? homedir()
  const tmp = realpathSync(tmpdir())
  const limits = tightenLimits(
    { ...defaultLimits, ...options.limits },
    options.projectConfiguration?.limits ?? {},
  )
  const given = expandRoots(options, home)
  const writeRoots = [project, ...given.write, ...(options.tmp === true ? [tmp] : [])]
  const readRoots = [...given.read, ...writeRoots]
  return {
    project,
    home,
    tmp,
    limits,
    bounds: {
      capabilities: {
        fs: { read: readRoots, write: writeRoots },
        net: { hosts: ['*'] },
        proc: { executables: ['*'] },
        browser: true,
        tmp: options.tmp ?? false,
        secrets: ['*'],
      },
      limits: {
        timeoutMs: limits.maxTimeoutMs,
        maxBytesIn: limits.maxBytesIn,
        maxBytesOut: limits.maxBytesOut,
      },
    },
    sensitivePaths: [
      ...(options.sensitivePaths ?? []),
      ...(options.projectConfiguration?.sensitivePaths ?? []),
    ],
    disallowedTools: [
      ...(options.disallowedTools ?? []),
      ...(options.projectConfiguration?.disallowedTools ?? []),
    ],
    env: pickEnvironment([...alwaysPassed, ...(options.env ?? [])]),
    now: options.now ?? Date.now,
  }
}

/** Throws a SetupError that names every field that does not exist, with the nearest that does. */
export function refuseUnknownFields(options: object, known: readonly string[], where: string): void {
  const faults: Fault[] = Object.keys(options)
    .filter((field) => !known.includes(field))
    .map((field) => {
      const nearest = nearestNames(field, known, 1)[0]
      return {
        pointer: `/${field}`,
        code: 'unknown_field',
        message: `There is no option "${field}"${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`,
      }
    })
  if (faults.length > 0)
    throw new SetupError('invalid_options', `${where} was given options it does not have:`, faults)
}

function resolveProject(project: string): string {
  const path = resolve(project)
  try {
    if (statSync(path).isDirectory()) return realpathSync(path)
  } catch {
    throw new SetupError(
      'project_missing',
      `The project folder "${path}" does not exist. Create it, or name another one.`,
    )
  }
  throw new SetupError('project_missing', `The project "${path}" is not a folder. Name a folder.`)
}

function expandRoots(options: RuntimeOptions, home: string): { read: string[]; write: string[] } {
  const faults: Fault[] = []
  const expand = (field: 'readRoots' | 'writeRoots') =>
    (options[field] ?? []).flatMap((root, index) => {
      const expanded = expandRoot(root, home)
      if ('path' in expanded) return [expanded.path]
      faults.push({ pointer: `/${field}/${index}`, code: 'invalid_root', message: expanded.fault })
      return []
    })
  const roots = { read: expand('readRoots'), write: expand('writeRoots') }
  if (faults.length > 0) throw new SetupError('invalid_options', 'Some roots cannot be used:', faults)
  return roots
}

function expandRoot(root: string, home: string): { path: string } | { fault: string } {
  const path = root === '~' || root.startsWith('~/') ? `${home}${root.slice(1)}` : root
  if (!isAbsolute(path))
    return { fault: `The root "${root}" is not an absolute path. Write it from "/" or "~/" on.` }
  try {
    return { path: realpathSync(path) }
  } catch {
    return { fault: `The root "${root}" does not exist. Create it, or take it out of the configuration.` }
  }
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

function pickEnvironment(names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = process.env[name]
    if (value !== undefined) picked[name] = value
  }
  return picked
}
