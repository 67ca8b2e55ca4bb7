import { createFactFolder, type FactFolder } from '../agents/memory/fact-folder.ts'
import { createMemoryBook } from '../agents/memory/create-memory-book.ts'
import type { AgentHost } from '../contract/agent-host.ts'
import { createScheduleBook } from '../agents/schedules/create-schedule-book.ts'
import { createTaskBook } from '../agents/tasks/create-task-book.ts'
import type { PostToolUseHook, PreToolUseHook } from '../contract/hook.ts'
import type { NoteRecord } from '../contract/evidence.ts'
import type { Store } from '../contract/store.ts'
import type { OpenFeed } from '../contract/mcp/tool-feed.ts'
import { createGrowingRedactor, type GrowingRedactor } from '../kit/secrets/growing-redactor.ts'
import { prepareRegistration, type RegistryReport } from '../registry/admission/prepare-registration.ts'
import { createRegistry, type ChangingRegistry } from '../registry/create-registry.ts'
import { createApprovalBook } from '../runtime/approvals/create-approval-book.ts'
import { createRunningCalls } from '../runtime/limits/create-running-calls.ts'
import { createToolSlots } from '../runtime/limits/create-slots.ts'
import { createConsents } from '../runtime/permission/consents.ts'
import type { ApprovalBook } from '../runtime/state/approval-book.ts'
import type { TenantContext } from '../runtime/state/scope.ts'
import type { Isolates } from '../contract/services/isolates.ts'
import { createIsolates } from '../sandboxes/isolates/create-isolates.ts'
import { createLauncher, type Launcher } from '../sandboxes/programs/launcher/create-launcher.ts'
import { runProgram } from '../sandboxes/programs/run-program.ts'
import { createSessionBook } from '../runtime/session/create-session-book.ts'
import { createJobCallbacks, type ReceivingCallbacks } from '../runtime/keep/long/create-job-callbacks.ts'
import { createSchemaChecker } from '../schema/create-schema-checker.ts'
import { createAnnouncements, type Announcements } from './announcements.ts'
import { toSources } from './change-tools.ts'
import { toHook, type ProgramRunner } from './command-hook.ts'
import { createErrorLog, type OnError } from './error-log.ts'
import { openFeeds } from './open-feeds.ts'
import { openObserver } from './open-observer.ts'
import { openStores } from './open-stores.ts'
import { resolveRuntimeOptions, type ResolvedOptions } from './options/resolve-options.ts'
import { runTogether } from './options/run-together.ts'
import { realPlace } from './options/resolve-places.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'
import { createAgentDefinitionRegistry } from './sources/agent-definition-registry.ts'
import { createStops, type RuntimeStops } from './stops/create-stops.ts'
import { createTenantContexts, type TenantContexts } from './tenant-contexts.ts'

/** What a runtime is made of. */
export interface RuntimeParts {
  resolved: ResolvedOptions
  onError: OnError
  redactor: GrowingRedactor
  announcements: Announcements
  stores: Awaited<ReturnType<typeof openStores>>
  registry: ChangingRegistry
  consents: ReturnType<typeof createConsents>
  approvals: ApprovalBook
  stops: RuntimeStops
  tenants: TenantContexts
  launcher: Launcher
  isolates: Isolates
  feeds: readonly OpenFeed[]
  books: Books
  /** The files of memory; undefined if it has no folder. */
  facts: FactFolder | undefined
  /** What starts agents for calls, as soon as it is there: agents need the runtime that their tools are of. */
  agents: { host: AgentHost | undefined }
}

/**
 * Opens the parts of a runtime. `hooks` count as deciding in the digest of the policy. Throws a SetupError with every issue of the options
 * and the tools.
 */
export async function openRuntimeParts(
  options: RuntimeOptions,
  hooks: RuntimeOptions['hooks'],
  operatedBy: TenantContext['operatedBy'],
): Promise<RuntimeParts> {
  const checker = createSchemaChecker()
  const { secrets = {}, duplicates = 'error', now = Date.now, deferredTools } = options
  const services = withAgentDefinitions(options.services)
  const redactor = createGrowingRedactor(Object.values(secrets))
  const onError = createErrorLog(options.onError, redactor)
  const announcements = createAnnouncements(options, onError)
  const report = (about: RegistryReport) => announcements.report(about)
  const registering = { checker, duplicates, deferredTools, services }
  const [resolved, registration] = runTogether(
    () => resolveRuntimeOptions(options, checker),
    () => prepareRegistration(toSources(options.tools ?? []), { ...registering, report }),
  )
  const observer = await openObserver(options, onError)
  const stores = await openStores({ options, now: resolved.now, onError })
  const { evidence, store, artifacts, history } = stores
  const registry = createRegistry({
    ...registering,
    store,
    evidence,
    now,
    onReport: report,
    onNote: (note) => announcements.note(note),
    onError: (tool, cause) => onError({ call: '', tool, cause }),
  })
  await registry.start(registration).catch(async (error: unknown) => {
    await stores.close()
    throw error
  })
  const findTenantIssue = (tenant: string) => tenants.findTenantIssue(tenant)
  const consents = createConsents({ store, evidence, registry, findTenantIssue, now: resolved.now })
  const telling = {
    store,
    evidence,
    announce: (note: NoteRecord) => announcements.recorded(note),
    logError: (cause: unknown) => onError({ call: '', tool: '', cause }),
    redact: (text: string) => redactor.text(text),
    now: resolved.now,
  }
  const approvals = createApprovalBook({ ...telling, policy: (tenant) => tenants.of(tenant).context.policy })
  const stops = createStops({ ...telling, findTenantIssue })
  const [launcher, isolates] = [createLauncher(), createIsolates()]
  const agents: RuntimeParts['agents'] = { host: undefined }
  const facts = openFacts(options)
  const books = openBooks(options, { store, redactor, resolved, facts, onError })
  const kept = { store, evidence, artifacts, history }
  const shared = { registry, checker, ...kept, redactor, services, operatedBy, secrets }
  const tenants: TenantContexts = createTenantContexts(
    options,
    { launcher, hooks, withheld: findWithheld(stores, options) },
    {
      ...shared,
      hooks: sortHooks(options, resolved, launcher),
      consents,
      approvals,
      stops,
      agentHost: () => hostOf(agents),
      ...books,
      isolates,
      running: createRunningCalls(),
      slots: createToolSlots(),
      observer,
      now: resolved.now,
      tick: resolved.tick,
      logError: onError,
    },
  )
  const decided = { resolved, registry, consents, approvals, stops, tenants }
  const feeds = await openFeeds(options.feeds ?? [], { ...decided, options, redactor, onError })
  const said = { onError, redactor, announcements }
  return { ...decided, ...said, launcher, isolates, feeds, agents, books, facts, stores }
}

/** What is kept of sessions, tasks, schedules and jobs, and for later sessions. */
type Books = Pick<TenantContext, 'sessions' | 'tasks' | 'schedules' | 'memory'> & {
  jobCallbacks: ReceivingCallbacks
}

function openBooks(
  { callbacks, memory = {} }: RuntimeOptions,
  about: Pick<RuntimeParts, 'resolved' | 'onError' | 'redactor' | 'facts'> & { store: Store },
): Books {
  const { store, redactor, resolved, facts, onError } = about
  const { now, tick } = resolved
  const logError = (cause: unknown): void => onError({ call: '', tool: '', cause })
  return {
    sessions: createSessionBook({ store, logError, now, tick }),
    tasks: createTaskBook({ store, now }),
    schedules: createScheduleBook({ store, now, logError }),
    jobCallbacks: createJobCallbacks({ store, redactor, url: callbacks?.url, now }),
    memory: createMemoryBook({ options: memory, folder: facts, store }),
  }
}

function hostOf({ host }: RuntimeParts['agents']): AgentHost {
  if (host === undefined) throw new Error('The runtime is not open yet.')
  return host
}

function sortHooks(
  options: RuntimeOptions,
  { project, env }: ResolvedOptions,
  launcher: Launcher,
): TenantContext['hooks'] {
  const run: ProgramRunner = (program) => runProgram({ ...program, cwd: project, env, launcher })
  const before: PreToolUseHook[] = []
  const after: PostToolUseHook[] = []
  for (const given of options.hooks ?? []) {
    const hook = 'command' in given ? toHook(given, run) : given
    if ('before' in hook) before.push(hook)
    else after.push(hook)
  }
  return { before, after }
}

/** A host that hands in no definitions of agents has those of Handrail alone. */
function withAgentDefinitions(services: RuntimeOptions['services'] = {}): Readonly<Record<string, unknown>> {
  const agentDefinitions = createAgentDefinitionRegistry({ projectFiles: false })
  return { agentDefinitions, ...services }
}

function openFacts({ memory }: RuntimeOptions): FactFolder | undefined {
  return memory?.dir === undefined ? undefined : createFactFolder(memory.dir)
}

/** What no call reaches, whatever its roots: what stands in memory came through its tools, or from a person. */
function findWithheld({ history }: RuntimeParts['stores'], { memory }: RuntimeOptions): string[] {
  return [
    ...(history === undefined ? [] : [history.place]),
    ...(memory?.dir === undefined ? [] : [realPlace(memory.dir)]),
  ]
}
