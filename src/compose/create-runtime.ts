import { SetupError } from '../contract/base/errors.ts'
import type { RuntimeEvent } from '../contract/events.ts'
import type { PostToolUseHook, PreToolUseHook } from '../contract/hook.ts'
import type { PolicyChange, Runtime, Session, SessionOptions } from '../contract/runtime.ts'
import { copyJson } from '../kit/json/copy-json.ts'
import { describeCause } from '../kit/text/describe-cause.ts'
import { createGrowingRedactor } from '../kit/secrets/growing-redactor.ts'
import { once } from '../kit/time/once.ts'
import type { Redactor } from '../kit/secrets/redact.ts'
import { showLine } from '../kit/text/show-safely.ts'
import { tellWatcher } from '../kit/time/tell-watcher.ts'
import { createRegistry } from '../registry/create-registry.ts'
import { prepareRegistration, type RegistryReport } from '../registry/admission/prepare-registration.ts'
import type { RegistryNote } from '../registry/state/registry-note.ts'
import type { Family } from '../runtime/state/family.ts'
import type { TenantContext } from '../runtime/state/scope.ts'
import { createConsents } from '../runtime/permission/consents.ts'
import { createRunningCalls } from '../runtime/limits/create-running-calls.ts'
import { createToolSlots } from '../runtime/limits/create-slots.ts'
import { runProgram } from '../sandboxes/programs/run-program.ts'
import { createLauncher, type Launcher } from '../sandboxes/programs/launcher/create-launcher.ts'
import { createSchemaChecker } from '../schema/create-schema-checker.ts'
import { createToolChanges, toSources } from './change-tools.ts'
import { toHook, type ProgramRunner } from './command-hook.ts'
import { refuseWrongKinds } from './options/check-options.ts'
import { createTenantContexts, localTenant, type TenantContexts } from './tenant-contexts.ts'
import { openFeeds } from './open-feeds.ts'
import { openObserver } from './open-observer.ts'
import { openSession } from './open-session.ts'
import { openStores } from './open-stores.ts'
import { reloadPolicy } from './reload-policy.ts'
import { runTogether } from './options/run-together.ts'
import { resolveRuntimeOptions, type ResolvedOptions } from './options/resolve-options.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'
import { tellMisspeltTools } from './tell-misspelt-tools.ts'

/**
 * Puts a runtime together: registry, policy, sandbox, store and evidence around one project folder. Everything wrong with the
 * options, the policy and the tools is thrown at once as a SetupError. Close it: that aborts what runs, disposes
 * the tools and makes the evidence durable.
 *
 * @example
 * const runtime = await createRuntime({ project: '.', tools: [codeTools(), greet], store: { path: 'handrail.db' } })
 * const session = runtime.session()
 * const result = await session.call('demo.greet', { name: 'Ada' })
 * await runtime.close()
 */
export function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return assembleRuntime(options, options.hooks)
}

/**
 * The same, with the digest of a policy that has these hooks, as a replay has a recording in their place; and for an operator who does not write the
 * program.
 */
export async function assembleRuntime(
  options: RuntimeOptions,
  hooks: RuntimeOptions['hooks'],
  operatedBy: TenantContext['operatedBy'] = 'program',
): Promise<Runtime> {
  refuseWrongKinds(options)
  const checker = createSchemaChecker()
  const listeners = new Set<(event: RuntimeEvent) => void>()
  const secrets = options.secrets ?? {}
  const redactor = createGrowingRedactor(Object.values(secrets))
  const onError = toErrorLog(options.onError, redactor)
  const announce = (event: RuntimeEvent) => {
    const { call = '', tool = '' } = event
    for (const each of options.onEvent === undefined ? listeners : [options.onEvent, ...listeners])
      tellWatcher(each, copyJson(event), (cause) => onError({ call, tool, cause }))
  }
  const now = options.now ?? Date.now
  const duplicates = options.duplicates ?? 'error'
  const services = options.services ?? {}
  const report = (about: RegistryReport) => {
    onError({ call: '', tool: about.tool, cause: new Error(about.message) })
    announce(toReportEvent(about, now()))
  }
  const [resolved, registration] = runTogether(
    () => resolveRuntimeOptions(options, checker),
    () => prepareRegistration(toSources(options.tools ?? []), { checker, duplicates, services, report }),
  )

  const observer = await openObserver(options, onError)
  const stores = await openStores({ options, now: resolved.now, onError })
  const { evidence, store } = stores
  const registry = createRegistry({
    checker,
    store,
    evidence,
    duplicates,
    services,
    now,
    onReport: report,
    onNote: (note) => announce(toNoteEvent(note, now())),
    onError: (tool, cause) => onError({ call: '', tool, cause }),
  })
  await registry.start(registration).catch(async (error: unknown) => {
    await stores.close()
    throw error
  })
  const consents = createConsents({
    store,
    evidence,
    registry,
    findTenantIssue: (tenant) => tenants.findTenantIssue(tenant),
    now: resolved.now,
  })
  const launcher = createLauncher()
  const tenants: TenantContexts = createTenantContexts(
    options,
    { launcher, hooks },
    {
      registry,
      checker,
      store,
      evidence,
      artifacts: stores.artifacts,
      redactor,
      hooks: sortHooks(options, resolved, launcher),
      services,
      operatedBy,
      secrets,
      consents,
      running: createRunningCalls(),
      slots: createToolSlots(),
      observer,
      now: resolved.now,
      tick: resolved.tick,
      logError: onError,
    },
  )
  const feeds = await openFeeds(options.feeds ?? [], {
    registry,
    tenants,
    options,
    hide: (about, hidden) => redactor.hide(about, hidden),
    redact: (text) => redactor.text(text),
    report: (source, message) =>
      onError({ call: '', tool: source, cause: new Error(redactor.text(message)) }),
  })
  const tellMisspelt = (change: PolicyChange) => tellMisspeltTools(change, { registry, onError })
  tellMisspelt(options)
  const { context } = tenants.of(localTenant)
  const sessions = new Set<Session>()
  const families = new WeakMap<Session, Family>()
  let closed = false
  const listener = (event: RuntimeEvent) => {
    stores.archive?.event(event)
    announce(event)
  }
  const watched = () => options.onEvent !== undefined || listeners.size > 0 || stores.archive !== undefined
  const isOpen = (): void => {
    if (!closed) return
    throw new SetupError('closed', 'This runtime is closed. Make a new one with createRuntime.')
  }
  const close = once(async () => {
    closed = true
    await Promise.all([...sessions].map((session) => session.close()))
    await Promise.all(feeds.map((feed) => feed.close()))
    await registry.close()
    await tenants.close()
    await launcher.close()
    await stores.close()
  })

  return {
    project: resolved.project,
    registry,
    store,
    artifacts: stores.artifacts,
    consents,
    sandbox: context.sandbox.describe(),
    get policyDigest() {
      return tenants.of(localTenant).context.policy.digest
    },
    get policyVersion() {
      return tenants.version
    },
    session(sessionOptions: SessionOptions = {}) {
      isOpen()
      const session = openSession(tenants, sessionOptions, {
        listener,
        watched,
        onClosed: (closedSession) => sessions.delete(closedSession),
        isRuntimeClosed: () => closed,
        families,
        lease: (tenant) => registry.lease(tenant),
      })
      sessions.add(session)
      return session
    },
    async reload(change) {
      isOpen()
      await reloadPolicy(change, { tenants, evidence, now: resolved.now, announce })
      tellMisspelt(change)
    },
    ...createToolChanges({ registry, findTenantIssue: (tenant) => tenants.findTenantIssue(tenant) }),
    async settled(withinMs = 10_000) {
      await Promise.all(feeds.map((feed) => feed.settled(withinMs)))
    },
    on(each) {
      listeners.add(each)
      return () => listeners.delete(each)
    },
    close,
  }
}

type OnError = NonNullable<RuntimeOptions['onError']>

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

/** What happens to tools belongs to no session. */
function toReportEvent({ type, tool, message }: RegistryReport, at: number): RuntimeEvent {
  return { type, sequence: 0, level: 'failure', at, tenant: '', session: '', tool, summary: message }
}

function toNoteEvent({ event, scope, tool, by, message, data }: RegistryNote, at: number): RuntimeEvent {
  const level = event === 'definition_pending' ? 'failure' : 'info'
  const about = { tool, summary: message, data, ...(by !== '' && { actor: by }) }
  return { type: event, sequence: 0, level, at, tenant: scope, session: '', ...about }
}

/** Where errors go. What the program's own log throws goes to stderr, with what it was told. */
function toErrorLog(given: RuntimeOptions['onError'], redactor: Pick<Redactor, 'text'>): OnError {
  const print: OnError = (error) => printError(error, redactor)
  if (given === undefined) return print
  return (error) =>
    tellWatcher(given, error, (cause) => {
      print(error)
      print({ ...error, cause: new Error('"onError" failed', { cause }) })
    })
}

/** Tells the log of an error that no caller is told of, in one line, without secrets. */
export function printError(
  { call, tool, cause }: Parameters<OnError>[0],
  redactor?: Pick<Redactor, 'text'>,
): void {
  // Names and messages may come from a server that is not ours.
  const about = ['fault', tool, call].filter((part) => part !== '').join(' ')
  const line = `handrail: ${about}: ${describeCause(cause)}`
  process.stderr.write(`${showLine(redactor?.text(line) ?? line)}\n`)
}
