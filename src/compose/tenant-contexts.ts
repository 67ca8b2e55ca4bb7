import type { Policy, TenantPolicy } from '../contract/policy.ts'
import { SetupError } from '../contract/base/errors.ts'
import type { PolicyChange } from '../contract/runtime.ts'
import type { Sandbox } from '../contract/services/sandbox.ts'
import { idForm, isId } from '../kit/match/is-id.ts'
import { createGrants } from '../policy/grants/create-grants.ts'
import { createPolicyEngine } from '../policy/create-policy-engine.ts'
import { compileObligations } from '../policy/obligations/compile-obligations.ts'
import { planBudgets } from '../runtime/limits/budgets.ts'
import type { TenantContext } from '../runtime/state/scope.ts'
import { compilePattern } from '../schema/pattern/compile-pattern.ts'
import type { Launcher } from '../sandboxes/programs/launcher/create-launcher.ts'
import { describeOptions, digestOptions } from './options/digest-options.ts'
import { openSandbox } from './open-sandbox.ts'
import {
  resolveRuntimeOptions,
  resolveTenantOptions,
  type ResolvedOptions,
} from './options/resolve-options.ts'
import { expandHome, realPlace } from './options/resolve-places.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'
import { createWorktreeContexts, type WorktreeContexts } from './worktree-contexts.ts'

/** A tenant's context, and the options it was made from. */
export interface ResolvedTenant {
  readonly context: TenantContext
  readonly options: RuntimeOptions
  readonly resolved: ResolvedOptions
  /** What the digest of the policy stands for. */
  readonly describe: () => object
}

/** The contexts of all tenants. Each is made when its tenant is first seen. */
export interface TenantContexts {
  /** The one that calls of this tenant start on now. Throws a SetupError for a tenant that the policy does not name. */
  of(tenant: string): ResolvedTenant
  /** The same for what is held to a worktree of its project, which is all that it may write. */
  readonly worktrees: Pick<WorktreeContexts, 'of' | 'leave'>
  /** Why the tenant does not exist; undefined if it does. */
  findTenantIssue(tenant: string): string | undefined
  /** Makes every context anew; with any issue, throws a SetupError and leaves all as they are. */
  reload(change: PolicyChange): void
  readonly version: number
  /** Of each tenant that was seen, the digest of all that decides about its calls. */
  digests(): ReadonlyMap<string, string>
  close(): Promise<void>
}

/** What the contexts of all tenants share. */
export type SharedContext = Pick<
  TenantContext,
  | 'registry'
  | 'checker'
  | 'store'
  | 'evidence'
  | 'artifacts'
  | 'history'
  | 'tasks'
  | 'schedules'
  | 'jobCallbacks'
  | 'memory'
  | 'redactor'
  | 'hooks'
  | 'services'
  | 'operatedBy'
  | 'secrets'
  | 'approvals'
  | 'stops'
  | 'sessions'
  | 'consents'
  | 'running'
  | 'slots'
  | 'agentHost'
  | 'isolates'
  | 'observer'
  | 'now'
  | 'tick'
  | 'logError'
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
  /** Real paths that no call reaches, whatever its roots. */
  readonly withheld: readonly string[]
}

/** Makes the contexts of tenants from these options. */
export function createTenantContexts(
  options: RuntimeOptions,
  { launcher, hooks, withheld }: Surroundings,
  shared: SharedContext,
): TenantContexts {
  const network = { ...options.network, lookup: options.lookup }
  let current: Generation = { options, version: 1, made: new Map() }

  const openFor = ({ project, env, home }: ResolvedOptions): Sandbox =>
    openSandbox(options.sandbox, { project, env, home, network, launcher, withheld })
  const sandboxes = createSandboxes(openFor)
  const make = (tenant: string, { options: from, version }: Wanted): ResolvedTenant => {
    const own = ownPolicy(from.policy, tenant)
    const tenantOptions = own === undefined ? from : toTenantOptions(from, own)
    const resolved = resolveTenantOptions(tenantOptions)
    const context: TenantContext = {
      ...shared,
      ...policyPart({ ...from, hooks }, { ...resolved, withheld }, own),
      obligations: compileObligations(from.policy?.obligations ?? [], { tenant, compilePattern }),
      latest: () => find(tenant).context,
      bounds: resolved.bounds,
      toolLists: toToolLists(from, own),
      disallowedTools: resolved.disallowedTools,
      project: resolved.project,
      policyVersion: version,
      sandbox: sandboxes.of(resolved),
      limits: resolved.limits,
      overlapCalls: from.overlapCalls ?? false,
      settings: own?.settings ?? {},
      instructionFiles: new Set([...instructionFiles, ...(from.instructionFiles ?? [])]),
      env: Object.keys(resolved.env),
    }
    const describe = (): object =>
      describeOptions({ options: { ...from, hooks }, resolved, own, points: context.decisionPoints })
    return { context, options: tenantOptions, resolved, describe }
  }
  const find = (tenant: string): ResolvedTenant => {
    let made = current.made.get(tenant)
    if (made === undefined) current.made.set(tenant, (made = make(tenant, current)))
    return made
  }
  const worktrees = createWorktreeContexts({
    whole: find,
    policyOf: (tenant, part) =>
      policyPart(
        { ...current.options, hooks },
        { ...part, withheld },
        ownPolicy(current.options.policy, tenant),
      ).policy,
    openSandbox: ({ project, env, home }) =>
      openSandbox(options.sandbox, { project, env, home, network, launcher, withheld }),
  })
  const findTenantIssue = (tenant: string) => describeTenantIssue(tenant, current.options.policy)
  return {
    of(tenant) {
      const issue = findTenantIssue(tenant)
      if (issue !== undefined) throw new SetupError('unknown_tenant', issue)
      return find(tenant)
    },
    worktrees,
    findTenantIssue,
    reload(change) {
      const next = { options: { ...current.options, ...change }, version: current.version + 1 }
      resolveRuntimeOptions(next.options, shared.checker)
      const tenants = new Set([localTenant, ...current.made.keys()])
      current = {
        ...next,
        made: new Map([...tenants].map((tenant) => [tenant, namingTenant(tenant, () => make(tenant, next))])),
      }
      worktrees.forget()
    },
    get version() {
      return current.version
    },
    digests: () => new Map([...current.made].map(([tenant, { context }]) => [tenant, context.policy.digest])),
    async close() {
      await Promise.all([worktrees.close(), sandboxes.close()])
    },
  }
}

interface Generation {
  readonly options: RuntimeOptions
  readonly version: number
  readonly made: Map<string, ResolvedTenant>
}

type Wanted = Pick<Generation, 'options' | 'version'>

/** One sandbox for each project. */
function createSandboxes(open: (resolved: ResolvedOptions) => Sandbox) {
  const opened = new Map<string, Sandbox>()
  return {
    of(resolved: ResolvedOptions): Sandbox {
      const known = opened.get(resolved.project) ?? open(resolved)
      opened.set(resolved.project, known)
      return known
    },
    async close(): Promise<void> {
      await Promise.all([...opened.values()].map((sandbox) => sandbox.close()))
    },
  }
}

/** The caller did not name the tenant here, so an issue does. */
function namingTenant<Made>(tenant: string, make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof SetupError) || tenant === localTenant) throw error
    throw new SetupError(error.code, `The tenant "${tenant}" could not go on. ${error.message}`)
  }
}

function describeTenantIssue(tenant: string, policy: Policy | undefined): string | undefined {
  if (!isId(tenant)) return `"${String(tenant).slice(0, 80)}" is not an id of a tenant: use ${idForm}.`
  return isTenant(policy, tenant)
    ? undefined
    : `The policy names its tenants, and "${tenant}" is none of them. Add it there, or use another one.`
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
function toToolLists(options: RuntimeOptions, own: TenantPolicy | undefined): TenantContext['toolLists'] {
  const configured = options.allowedTools ?? []
  return [
    ...(configured.length === 0 ? [] : [configured]),
    ...(own?.allowedTools === undefined ? [] : [own.allowedTools]),
  ]
}

/** Everything of a context that the policy decides. */
function policyPart(
  options: RuntimeOptions,
  resolved: ResolvedOptions & { withheld: readonly string[]; partOf?: string },
  own: TenantPolicy | undefined,
): Pick<TenantContext, 'policy' | 'decisionPoints' | 'grantBounds' | 'budgets'> {
  const policy = options.policy ?? {}
  // Where the history lies decides nothing that a policy says.
  const { withheld, ...decided } = resolved
  const grants =
    policy.grants === undefined
      ? undefined
      : createGrants(policy, { home: resolved.home, project: resolved.project, real: realPlace })
  const decisionPoints = [...(grants === undefined ? [] : [grants]), ...(options.decisionPoints ?? [])]
  const engine = createPolicyEngine({
    digest: digestOptions({ options, resolved: decided, own, points: decisionPoints }),
    policy,
    tenant: own,
    projectRules: options.projectConfiguration?.rules ?? [],
    sensitivePaths: [...resolved.sensitivePaths, ...withheld],
    bounds: resolved.bounds,
    defaultTimeoutMs: resolved.limits.defaultTimeoutMs,
    home: resolved.home,
    project: resolved.project,
    partOf: resolved.partOf,
    tmp: resolved.tmp,
  })
  return {
    policy: engine,
    decisionPoints,
    grantBounds: (principal, definition, base) => grants?.bounds(principal, definition, base) ?? base,
    budgets: planBudgets(policy.budgets ?? [], policy.prices ?? []),
  }
}
