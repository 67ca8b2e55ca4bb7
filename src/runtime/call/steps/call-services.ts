import { basename } from 'node:path'
import type { CallHistory } from '../../../contract/history.ts'
import type { Instructions } from '../../../contract/services/instructions.ts'
import type { Tasks } from '../../../contract/services/tasks.ts'
import { boundFiles, boundSearch } from '../../limits/bound-effects.ts'
import { openPastCalls } from '../../undo/open-past-calls.ts'
import { openArtifacts } from '../../keep/open-artifacts.ts'
import { openParts } from '../../parts/open-parts.ts'
import { openPlanMode } from '../../planning/open-plan-mode.ts'
import { openSkills } from '../../skills/open-skills.ts'
import { openTodos } from '../../planning/open-todos.ts'
import { createChangesPermit } from '../../permission/permit-changes.ts'
import { toHold } from '../../permission/to-hold.ts'
import { createHostPermit } from '../../permission/permit-host.ts'
import { createSessionResources } from '../../keep/session-resources.ts'
import { openCodeMode } from '../../code-mode/open-code-mode.ts'
import { openAgents, openTeams } from '../../keep/open-agents.ts'
import { openMemory } from '../../keep/open-memory.ts'
import { openModelSettings } from '../../keep/open-model-settings.ts'
import { openSchedules } from '../../planning/open-schedules.ts'
import { createSessionJobs } from '../../keep/session-jobs.ts'
import { openToolSearch } from './open-tool-search.ts'
import type { RunWatch } from '../../limits/run-watch.ts'
import { redactorOf } from '../../record/treatments.ts'
import type { Admitted } from '../../state/call-state.ts'
import type { CallScope } from '../../state/scope.ts'

/** The call that services are opened for. */
export interface Opening {
  readonly admitted: Admitted
  readonly scope: CallScope
  readonly watch: RunWatch
  /** Patterns of paths that it does not see. */
  readonly hidden: () => readonly string[]
}

/** The services that the tool of a call names in `needs`, by name: those of Handrail, held to the call, and those of the host. */
export function openServices(opening: Opening): Readonly<Record<string, unknown>> {
  const { admitted, scope, watch, hidden } = opening
  const { tenant } = scope
  const { needs, permission, capabilities } = admitted.registered.definition
  // A readonly program runs too; that it has no directories to write to is in its profile.
  const access = permission === 'write' || capabilities.proc.executables.length > 0 ? 'write' : 'read'
  const { folder } = admitted.registered.tool
  const meter = admitted.budget?.meter
  const history = access === 'write' ? openHistory(admitted, scope) : undefined
  const effects = tenant.sandbox.enter(admitted.profile, {
    access,
    signal: () => watch.signal,
    hidden,
    permitHost: createHostPermit(admitted, scope),
    permitChanges: createChangesPermit({ admitted, scope, watch }),
    hold: toHold(admitted, scope),
    ...(history !== undefined && { history }),
    ...(folder !== undefined && { own: { read: [folder], write: [], hosts: [] } }),
    ...(meter !== undefined && { onCpuMs: (cpuMs: number) => void (meter.cpuMs += cpuMs) }),
  })
  const bounds = { definition: admitted.registered.definition, project: tenant.project }
  const services: Record<string, unknown> = { ...tenant.services, ...effects }
  if (needs.includes('files')) services['files'] = boundFiles(effects.files, bounds)
  if (needs.includes('search')) services['search'] = boundSearch(effects.search, bounds)
  if (needs.includes('pastCalls')) services['pastCalls'] = openPastCalls(scope, history)
  for (const need of needs)
    if (Object.hasOwn(openers, need)) services[need] = openers[need]?.({ ...opening, history })
  return services
}

const ended = (watch: RunWatch) => (): boolean => watch.ended !== undefined || watch.answered

type Opened = Opening & { readonly history: CallHistory | undefined }

const openers: { readonly [service: string]: (opening: Opened) => unknown } = {
  jobs: createSessionJobs,
  sessionResources: ({ admitted, scope, hidden }) => createSessionResources(admitted, scope, hidden),
  instructions: ({ admitted, scope, watch }) => createInstructions(admitted, scope, watch),
  artifacts: ({ scope }) => openArtifacts(scope),
  agents: ({ admitted, scope, watch }) => openAgents(admitted, scope, watch),
  teams: ({ admitted, scope, watch }) => openTeams(admitted, scope, watch),
  parts: ({ admitted, scope, watch }) => openParts(admitted, scope, watch),
  codeMode: ({ admitted, scope, watch }) => openCodeMode(admitted, scope, watch),
  planMode: ({ admitted, scope }) => openPlanMode(admitted, scope),
  skills: ({ scope }) => openSkills(scope),
  todos: ({ admitted, scope }) => openTodos(admitted, scope),
  toolSearch: ({ admitted, scope }) => openToolSearch(admitted, scope),
  tasks: ({ admitted, scope, watch }) => openTasks(admitted, scope, watch),
  schedules: ({ admitted, scope, watch }) => openSchedules(admitted, scope, ended(watch)),
  memory: ({ admitted, scope, watch }) => openMemory(admitted, scope, ended(watch)),
  modelSettings: ({ admitted, scope, watch }) => openModelSettings(admitted, scope, ended(watch)),
}

/** What the call replaces or removes is kept under its id; undefined if nothing is. */
function openHistory(
  { call, registered }: Admitted,
  { tenant, session }: CallScope,
): CallHistory | undefined {
  return tenant.history?.open({
    call: call.id,
    tool: registered.definition.name,
    session: session.id,
    tenant: session.principal.tenant,
    actor: session.principal.actor,
    project: tenant.project,
    at: tenant.now(),
  })
}

function openTasks({ registered }: Admitted, scope: CallScope, watch: RunWatch): Tasks {
  const { tenant, session } = scope
  const { principal } = session
  const redactor = redactorOf(registered, scope)
  return tenant.tasks.open({
    tenant: principal.tenant,
    actor: principal.actor,
    role: principal.role,
    session: session.id,
    claims: session.claims,
    redact: (value) => redactor.json(value),
    ended: ended(watch),
  })
}

function createInstructions(
  { call }: Admitted,
  { tenant, session }: CallScope,
  watch: RunWatch,
): Instructions {
  return {
    covers: (path) => tenant.instructionFiles.has(basename(path)),
    found(file) {
      // A call that was answered already is not asked for what it found.
      if (watch.ended === undefined) session.instructions.expect(call.id, file)
    },
  }
}
