import { SetupError } from '../contract/base/errors.ts'
import type { RuntimeEvent } from '../contract/events.ts'
import { roles, type Principal, type Role } from '../contract/base/principal.ts'
import type { StepScope } from '../contract/services/tasks.ts'
import type { Session, SessionNarrowing, SessionOptions, ToolRestriction } from '../contract/runtime.ts'
import type { LoadedSkill } from '../contract/services/skill.ts'
import type { OwnTool } from '../contract/observed.ts'
import type { Registered } from '../contract/registry.ts'
import { newId } from '../kit/new-id.ts'
import {
  createRestrictions,
  joinRestrictions,
  restrictionsOf,
  type Restrictions,
} from '../policy/create-restrictions.ts'
import { findExclusion, worksWith } from '../policy/effective-set.ts'
import type { ViewLease } from '../registry/create-tool-catalog.ts'
import { presentTool } from '../registry/catalog/present-tools.ts'
import { toEntry } from '../registry/state/to-entry.ts'
import { createFoundTools } from '../runtime/session/create-found-tools.ts'
import { createPart } from '../runtime/session/create-part.ts'
import { createSessionSkills } from '../runtime/session/create-session-skills.ts'
import { createSessionMode } from '../runtime/session/create-session-mode.ts'
import { createSession } from '../runtime/session/create-session.ts'
import type { Family } from '../runtime/state/family.ts'
import type { TenantContext } from '../runtime/state/scope.ts'
import type { SessionSkills } from '../runtime/state/session-skills.ts'
import type { KeptSession } from '../runtime/state/session-book.ts'
import { checkSessionOptions } from './options/check-session-options.ts'
import { checkRestriction } from './options/check-tool-lists.ts'
import { agentTools } from './sources/agent-tools.ts'
import { localTenant, type TenantContexts } from './tenant-contexts.ts'

export interface SessionSurroundings {
  listener(event: RuntimeEvent): void
  watched(): boolean
  onClosed(session: Session): void
  isRuntimeClosed(): boolean
  /** What each session of the runtime hands to those that it opens. */
  readonly families: WeakMap<Session, Family>
  /** The tools of a tenant now, kept alive until they are released. */
  lease(tenant: string): ViewLease
}

/** Where a session stands that an agent opened. */
export interface SessionPlace {
  /** For one below another, which has none of its own. */
  readonly id?: string | undefined
  /** The worktree that it is held to. Default: that of its parent. */
  readonly worktree?: string | undefined
}

/** Opens a session with every default filled in. Throws a SetupError with every issue of the options. */
export function openSession(
  tenants: TenantContexts,
  given: SessionOptions,
  around: SessionSurroundings & SessionPlace,
): Session {
  const parent = given.parent === undefined ? undefined : around.families.get(given.parent)
  const issues = checkSessionOptions(given, parent)
  if (issues.length > 0) throw new SetupError('invalid_options', 'The session cannot be opened:', issues)
  // It is shown to tools, hooks and persons, none of whom may make another one of it.
  const principal = Object.freeze(toPrincipal(given, parent))
  const { tenant, role } = principal
  const { context: whole, options } = tenants.of(tenant)
  const worktree = around.worktree ?? parent?.worktree
  const context = worktree === undefined ? whole : tenants.worktrees.of(tenant, worktree)
  const opened = given.mode ?? parent?.mode.beneath() ?? context.policy.defaultMode
  if (opened === 'bypass' && !context.policy.allowBypass) throw bypassRefusal()
  const kept = openKept(given, principal, context)
  // An agent that another one started has an id as well, by which it goes on in another process.
  const resumed = kept ?? (around.id === undefined ? undefined : context.sessions.open(around.id, principal))
  const plan = resumed?.plan ?? createPart()
  const ownSkills = resumed?.skills ?? createSessionSkills()
  const mode = createSessionMode({ opened, plan, above: parent?.mode })
  const narrowing = createRestrict(kept, () => context.now())
  const lists = structuredClone(pickNarrowing(given))
  const restrictions = joinRestrictions(narrowing.restrictions, ofSkills(ownSkills))
  const { session, family } = createSession({
    tenant: () => context.latest(),
    lease: () => around.lease(tenant),
    principal,
    mode,
    parent,
    approver: parent === undefined ? (given.approve ?? options.approve) : parent.approver,
    elicit: parent === undefined ? (given.elicit ?? options.elicit) : parent.elicit,
    standingConsents: (given.standingConsents ?? true) && (parent?.standingConsents ?? true),
    claims: [...(parent?.claims ?? []), ...(given.claims === undefined ? [] : [copyClaims(given.claims)])],
    signal: given.signal,
    observes: given.observes && { agent: given.observes.agent, session: given.observes.session },
    ownTool: createOwnTools(context),
    deliverables: given.deliverables ?? [],
    exclusion: (registered, now) =>
      findExclusion(registered, {
        role,
        mode: mode.current(),
        model: given.model,
        configured: now.toolLists,
        allowed: given.allowedTools,
        disallowed: [...now.disallowedTools, ...(given.disallowedTools ?? [])],
        restrictions,
      }),
    fits: ({ definition }, model) => given.model !== undefined || worksWith(model, definition),
    ...narrowing,
    narrowing: () => ({ ...lists, restrictions: narrowing.restrictions.list() }),
    restrictions,
    id: around.id,
    worktree,
    kept,
    todos: kept?.todos ?? createPart(),
    ownSkills,
    found: kept?.found ?? createFoundTools(),
    presentation: presentTool,
    listener: (event) => around.listener(event),
    watched: () => around.watched(),
    onClosed() {
      resumed?.close()
      around.onClosed(session)
    },
    isRuntimeClosed: () => around.isRuntimeClosed(),
  })
  around.families.set(session, family)
  return session
}

function pickNarrowing({
  allowedTools,
  disallowedTools,
  model,
}: SessionOptions): Omit<SessionNarrowing, 'restrictions'> {
  return {
    ...(allowedTools !== undefined && { allowedTools }),
    ...(disallowedTools !== undefined && { disallowedTools }),
    ...(model !== undefined && { model }),
  }
}

function copyClaims({ task, steps }: StepScope): StepScope {
  return { task, ...(steps !== undefined && { steps: [...steps] }) }
}

/** What skills leave. None takes away what loads another one. */
function ofSkills(skills: SessionSkills): Pick<Restrictions, 'version' | 'permits'> {
  const narrowed = restrictionsOf(toRestrictions(skills))
  return {
    get version() {
      return narrowed.version
    },
    permits: (name) => skillTools.includes(name) || narrowed.permits(name),
  }
}

const skillTools: readonly string[] = ['internal.list_skills', 'internal.load_skill']

/** What skills narrow, as long as they are followed. */
function toRestrictions(skills: SessionSkills): () => readonly ToolRestriction[] {
  let seen: readonly LoadedSkill[] | undefined
  let restrictions: readonly ToolRestriction[] = []
  return () => {
    const now = skills.list()
    if (now !== seen)
      restrictions = now.map(({ narrowing: { allowed = [], disallowed = [] } }) => ({
        allowedTools: allowed,
        disallowedTools: disallowed,
      }))
    seen = now
    return restrictions
  }
}

/** What is kept of a session with an id of its own. */
function openKept(
  { id }: SessionOptions,
  principal: Principal,
  { sessions }: TenantContext,
): KeptSession | undefined {
  if (id === undefined) return undefined
  const message = sessions.findIssue(id, principal)
  if (message === undefined) return sessions.open(id, principal)
  throw new SetupError('invalid_options', 'The session cannot be opened:', [
    { pointer: '/id', code: 'other_owner', message },
  ])
}

/** So many tools of an agent are kept. */
const mostOwnTools = 1_000

/** The tools of an agent that Handrail does not have, each made when it is first called. */
function createOwnTools({ checker }: TenantContext) {
  const made = new Map<string, Registered>()
  return (name: string, own: OwnTool): Registered => {
    const key = JSON.stringify([name, own.harmless])
    const known = made.get(key)
    if (known !== undefined) return known
    const source = agentTools(name, own)
    const [tool] = source.list()
    if (tool === undefined) throw new Error('The source of an own tool has no tool.')
    if (made.size >= mostOwnTools) made.clear()
    const registered = toEntry(tool, source, { checker, tenants: undefined, initial: 'enabled' })
    made.set(key, registered)
    return registered
  }
}

/** What narrows the set of a session for a while; of one with an id of its own, in every process that has it open. */
function createRestrict(kept: KeptSession | undefined, now: () => number) {
  const own = createRestrictions()
  const ends = new Map<string, () => void>()
  const add = (name: string, restriction: ToolRestriction): (() => void) => {
    ends.get(name)?.()
    const end = own.add(restriction)
    ends.set(name, end)
    return end
  }
  return {
    restrictions: kept === undefined ? own : restrictionsOf(() => kept.restrictions()),
    restrict(restriction: ToolRestriction): () => void {
      checkRestriction(restriction)
      const { name = newId('restriction', now()) } = restriction
      return kept === undefined ? add(name, restriction) : kept.restrict(name, restriction)
    },
  }
}

function toPrincipal({ tenant, actor, role, agent }: SessionOptions, parent: Family | undefined): Principal {
  const own = agent !== undefined && { agent: Object.freeze(withParent(agent, parent?.principal.agent)) }
  if (parent === undefined)
    return { tenant: tenant ?? localTenant, actor: actor ?? 'user', role: role ?? 'main', ...own }
  const { principal } = parent
  return { tenant: principal.tenant, actor: principal.actor, role: role ?? childRole(principal.role), ...own }
}

function childRole(parent: Role): Role {
  return roles.indexOf(parent) < roles.indexOf('sub') ? 'sub' : parent
}

/** Who started an agent is not for the agent to say. */
function withParent(agent: Agent, parent: Agent | undefined): Agent {
  if (parent === undefined) return { ...agent }
  return { ...agent, parentAgentId: parent.agentId, parentRunId: parent.runId }
}

type Agent = NonNullable<Principal['agent']>

function bypassRefusal(): SetupError {
  return new SetupError('invalid_options', 'The session cannot be opened:', [
    {
      pointer: '/mode',
      code: 'mode_denied',
      message: 'The mode "bypass" must be allowed by the policy: set "allowBypass": true there.',
    },
  ])
}
