import type { Policy, TenantPolicy } from '../contract/policy.ts'
import { SetupError } from '../contract/base/errors.ts'
import type { PolicyChange } from '../contract/runtime.ts'
import type { Sandbox } from '../contract/base/sandbox.ts'
import { idForm, isId } from '../kit/match/is-id.ts'
import { createGrants } from '../policy/grants/create-grants.ts'
import { createPolicyEngine } from '../policy/create-policy-engine.ts'
import { compileObligations } from '../policy/obligations/compile-obligations.ts'
import { planBudgets } from '../runtime/limits/budgets.ts'
import type { Ground } from '../runtime/state/ground.ts'
import { compilePattern } from '../schema/pattern/compile-pattern.ts'
import type { Launcher } from '../sandboxes/programs/launcher/create-launcher.ts'
import { digestOptions } from './digest-options.ts'
import { openSandbox } from './open-sandbox.ts'
import {
  resolveRuntimeOptions,
  resolveTenantOptions,
  type ResolvedOptions,
} from './options/resolve-options.ts'
import { expandHome, realPlace } from './options/resolve-places.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'

/** A tenant's ground, and the options it was laid from. */
export interface TenantGround {
  readonly ground: Ground
  readonly options: RuntimeOptions
  readonly resolved: ResolvedOptions
}

/** The grounds of all tenants. Each is laid when its tenant is first seen. */
export interface Grounds {
  /** The one that calls of this tenant start on now. Throws a SetupError for a tenant that the policy does not name. */
  of(tenant: string): TenantGround
  /** Why the tenant does not exist; undefined if it does. */
  findTenantFault(tenant: string): string | undefined
  /** Lays every ground anew; with any fault, throws a SetupError and leaves all as they are. */
  reload(change: PolicyChange): void
  readonly version: number
  /** Of each tenant that was seen, the digest of all that decides about its calls. */
  digests(): ReadonlyMap<string, string>
  close(): Promise<void>
}

/** What the grounds of all tenants share. */
export type SharedGround = Pick<
  Ground,
  | 'registry'
  | 'checker'
  | 'store'
  | 'evidence'
  | 'artifacts'
  | 'redactor'
  | 'hooks'
  | 'supplies'
  | 'operatedBy'
  | 'secrets'
  | 'consents'
  | 'running'
  | 'slots'
  | 'observer'
  | 'now'
  | 'tick'
  | 'logFault'
>

/** What files that tell how to work in a project are called everywhere. */
const instructionFiles: readonly string[] = ['AGENTS.md', 'CLAUDE.md']

/** The tenant of a machine with one person. It is there whatever the policy names. */
export const localTenant = 'local'

/** What stands around the options. */
interface Surroundings {
  /** Starts the programs. */
  readonly launcher: Launcher
  /** The hooks that count as deciding: a replay has a recording in their place. */
  readonly hooks: RuntimeOptions['hooks']
}

/** Grounds from these options. */
export function layGrounds(
  options: RuntimeOptions,
  { launcher, hooks }: Surroundings,
  shared: SharedGround,
): Grounds {
  const sandboxes = new Map<string, Sandbox>()
  const network = { ...options.network, lookup: options.lookup }
  let standing: Standing = { options, version: 1, laid: new Map() }

  const sandboxFor = ({ project, env, home }: ResolvedOptions): Sandbox => {
    const known = sandboxes.get(project)
    if (known !== undefined) return known
    const sandbox = openSandbox(options.sandbox, { project, env, home, network, launcher })
    sandboxes.set(project, sandbox)
    return sandbox
  }
  const lay = (tenant: string, { options: from, version }: Omit<Standing, 'laid'>): TenantGround => {
    const own = ownPolicy(from.policy, tenant)
    const tenantOptions = own === undefined ? from : toTenantOptions(from, own)
    const resolved = resolveTenantOptions(tenantOptions)
    const ground: Ground = {
      ...shared,
      ...layPolicy({ ...from, hooks }, resolved, own),
      obligations: compileObligations(from.policy?.obligations ?? [], { tenant, compilePattern }),
      latest: () => find(tenant).ground,
      bounds: resolved.bounds,
      toolLists: toToolLists(from, own),
      disallowedTools: resolved.disallowedTools,
      project: resolved.project,
      policyVersion: version,
      sandbox: sandboxFor(resolved),
      limits: resolved.limits,
      overlapCalls: from.overlapCalls ?? false,
      settings: own?.settings ?? {},
      instructionFiles: new Set([...instructionFiles, ...(from.instructionFiles ?? [])]),
      env: Object.keys(resolved.env),
    }
    return { ground, options: tenantOptions, resolved }
  }
  /** The caller did not name the tenant here, so a fault does. */
  const layAnew = (tenant: string, next: Omit<Standing, 'laid'>): TenantGround => {
    try {
      return lay(tenant, next)
    } catch (error) {
      if (!(error instanceof SetupError) || tenant === localTenant) throw error
      throw new SetupError(error.code, `The tenant "${tenant}" could not go on. ${error.message}`)
    }
  }
  const find = (tenant: string): TenantGround => {
    let laid = standing.laid.get(tenant)
    if (laid === undefined) standing.laid.set(tenant, (laid = lay(tenant, standing)))
    return laid
  }
  const findTenantFault = (tenant: string): string | undefined => {
    if (!isId(tenant)) return `"${String(tenant).slice(0, 80)}" is no id of a tenant: use ${idForm}.`
    return isTenant(standing.options.policy, tenant)
      ? undefined
      : `The policy names its tenants, and "${tenant}" is none of them. Add it there, or use another one.`
  }
  return {
    of(tenant) {
      const fault = findTenantFault(tenant)
      if (fault !== undefined) throw new SetupError('unknown_tenant', fault)
      return find(tenant)
    },
    findTenantFault,
    reload(change) {
      const next = { options: { ...standing.options, ...change }, version: standing.version + 1 }
      resolveRuntimeOptions(next.options, shared.checker)
      const tenants = new Set([localTenant, ...standing.laid.keys()])
      standing = { ...next, laid: new Map([...tenants].map((tenant) => [tenant, layAnew(tenant, next)])) }
    },
    get version() {
      return standing.version
    },
    digests: () => new Map([...standing.laid].map(([tenant, { ground }]) => [tenant, ground.policy.digest])),
    async close() {
      await Promise.all([...sandboxes.values()].map((sandbox) => sandbox.close()))
    },
  }
}

interface Standing {
  readonly options: RuntimeOptions
  readonly version: number
  readonly laid: Map<string, TenantGround>
}

function isTenant(policy: Policy | undefined, tenant: string): boolean {
  return policy?.tenants === undefined || tenant === localTenant || Object.hasOwn(policy.tenants, tenant)
}

/** What the policy says of this tenant alone. One that is not there any more may do nothing. */
function ownPolicy(policy: Policy | undefined, tenant: string): TenantPolicy | undefined {
  const { tenants } = policy ?? {}
  if (tenants !== undefined && Object.hasOwn(tenants, tenant)) return tenants[tenant]
  return isTenant(policy, tenant) ? undefined : { allowedTools: [] }
}

/** A tenant's own roots take the place of the runtime's; its tool lists narrow them. */
function toTenantOptions(options: RuntimeOptions, own: TenantPolicy): RuntimeOptions {
  const { project, readRoots, writeRoots, disallowedTools = [] } = own
  return {
    ...options,
    ...(project !== undefined && {
      project: expandHome(project, options.home),
      readRoots: [],
      writeRoots: [],
    }),
    ...(readRoots !== undefined && { readRoots }),
    ...(writeRoots !== undefined && { writeRoots }),
    disallowedTools: [...(options.disallowedTools ?? []), ...disallowedTools],
  }
}

/** An empty list of the configuration filters nothing; an empty one of a tenant leaves nothing. */
function toToolLists(options: RuntimeOptions, own: TenantPolicy | undefined): Ground['toolLists'] {
  const configured = options.allowedTools ?? []
  return [
    ...(configured.length === 0 ? [] : [configured]),
    ...(own?.allowedTools === undefined ? [] : [own.allowedTools]),
  ]
}

/** Everything of a ground that the policy decides. */
function layPolicy(
  options: RuntimeOptions,
  resolved: ResolvedOptions,
  own: TenantPolicy | undefined,
): Pick<Ground, 'policy' | 'decisionPoints' | 'grantBounds' | 'budgets'> {
  const policy = options.policy ?? {}
  const grants =
    policy.grants === undefined
      ? undefined
      : createGrants(policy, { home: resolved.home, project: resolved.project, real: realPlace })
  const decisionPoints = [...(grants === undefined ? [] : [grants]), ...(options.decisionPoints ?? [])]
  const engine = createPolicyEngine({
    digest: digestOptions({ options, resolved, own, points: decisionPoints }),
    policy,
    tenant: own,
    projectRules: options.projectConfiguration?.rules ?? [],
    sensitivePaths: resolved.sensitivePaths,
    bounds: resolved.bounds,
    defaultTimeoutMs: resolved.limits.defaultTimeoutMs,
    home: resolved.home,
    project: resolved.project,
    tmp: resolved.tmp,
  })
  return {
    policy: engine,
    decisionPoints,
    grantBounds: (principal, definition, base) => grants?.bounds(principal, definition, base) ?? base,
    budgets: planBudgets(policy.budgets ?? []),
  }
}
