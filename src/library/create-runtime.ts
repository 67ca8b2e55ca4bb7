import { SetupError } from '../contract/errors.ts'
import type { RuntimeEvent } from '../contract/events.ts'
import type { PostToolUseHook, PreToolUseHook } from '../contract/hook.ts'
import type { Runtime, Session, SessionOptions } from '../contract/runtime.ts'
import type { SchemaChecker } from '../contract/schema.ts'
import type { Tool, ToolSource } from '../contract/tool.ts'
import { createRedactor } from '../kit/redact.ts'
import { createPolicyEngine } from '../policy/create-policy-engine.ts'
import { createRegistry, type GrowingRegistry, type RegistryReport } from '../registry/create-registry.ts'
import type { Ground } from '../runtime/ground.ts'
import { createRunningCalls } from '../runtime/running-calls.ts'
import { createHostSandbox } from '../sandboxes/host/create-host-sandbox.ts'
import { runProgram } from '../sandboxes/host/run-program.ts'
import { createSchemaChecker } from '../schema/create-schema-checker.ts'
import { checkTools, isTool, isToolSource } from './check-options.ts'
import { toHook, type ProgramRunner } from './command-hook.ts'
import { openSession } from './open-session.ts'
import { openStores } from './open-stores.ts'
import { runTogether } from './run-together.ts'
import { resolveRuntimeOptions, type ResolvedOptions } from './resolve-options.ts'
import type { RuntimeOptions } from './runtime-options.ts'

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
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const checker = createSchemaChecker()
  const listeners = new Set<(event: RuntimeEvent) => void>()
  const onFault = options.onFault ?? printFault
  const announce = (event: RuntimeEvent) => {
    options.onEvent?.(event)
    for (const each of listeners) each(event)
  }
  const registry = createRegistry({
    checker,
    ...(options.duplicates !== undefined && { duplicates: options.duplicates }),
    onReport(report) {
      onFault({ call: '', tool: report.tool, cause: new Error(report.message) })
      announce(toEvent(report, (options.now ?? Date.now)()))
    },
  })
  const [resolved] = runTogether(
    () => resolveRuntimeOptions(options, checker),
    () => registry.register(toSources(options.tools ?? [])),
  )

  const stores = await openStores({ options, now: resolved.now, onFault })
  const ground = layGround(options, resolved, { registry, checker, stores, onFault })
  const sessions = new Set<Session>()
  let closed = false
  const listener = (event: RuntimeEvent) => {
    stores.archive?.event(event)
    announce(event)
  }
  const watched = () => options.onEvent !== undefined || listeners.size > 0 || stores.archive !== undefined

  return {
    project: resolved.project,
    registry,
    store: stores.store,
    artifacts: stores.artifacts,
    sandbox: ground.sandbox.describe(),
    policyDigest: ground.policy.digest,
    session(sessionOptions: SessionOptions = {}) {
      if (closed) throw new SetupError('closed', 'This runtime is closed. Make a new one with createRuntime.')
      const session = openSession(ground, sessionOptions, {
        options,
        resolved,
        listener,
        watched,
        onClosed: (closedSession) => sessions.delete(closedSession),
      })
      sessions.add(session)
      return session
    },
    async register(tools, registerOptions = {}) {
      const faults = checkTools(tools)
      if (faults.length > 0) throw new SetupError('invalid_definition', 'Nothing was registered:', faults)
      registry.register(toSources(tools), registerOptions)
    },
    on(each) {
      listeners.add(each)
      return () => listeners.delete(each)
    },
    async close() {
      if (closed) return
      closed = true
      await Promise.all([...sessions].map((session) => session.close()))
      for (const cause of await registry.close()) onFault({ call: '', tool: '', cause })
      await ground.sandbox.close()
      await stores.close()
    },
  }
}

type OnFault = NonNullable<RuntimeOptions['onFault']>

function layGround(
  options: RuntimeOptions,
  resolved: ResolvedOptions,
  parts: {
    registry: GrowingRegistry
    checker: SchemaChecker
    stores: Awaited<ReturnType<typeof openStores>>
    onFault: OnFault
  },
): Ground {
  const { stores } = parts
  const sandbox = createHostSandbox({ project: resolved.project, env: resolved.env, home: resolved.home })
  const policy = createPolicyEngine({
    policy: options.policy ?? {},
    projectRules: options.projectConfiguration?.rules ?? [],
    sensitivePaths: resolved.sensitivePaths,
    bounds: resolved.bounds,
    defaultTimeoutMs: resolved.limits.defaultTimeoutMs,
    home: resolved.home,
    project: resolved.project,
    tmp: resolved.tmp,
  })
  const secrets = options.secrets ?? {}
  return {
    project: resolved.project,
    registry: parts.registry,
    checker: parts.checker,
    policy,
    sandbox,
    store: stores.store,
    evidence: stores.evidence,
    artifacts: stores.artifacts,
    redactor: createRedactor(Object.values(secrets)),
    limits: resolved.limits,
    hooks: sortHooks(options, resolved),
    supplies: options.supplies ?? {},
    secrets,
    settings: {},
    env: Object.keys(resolved.env),
    running: createRunningCalls(),
    observer: undefined,
    now: resolved.now,
    logFault: parts.onFault,
  }
}

function sortHooks(options: RuntimeOptions, resolved: ResolvedOptions): Ground['hooks'] {
  const run: ProgramRunner = (program) => runProgram({ ...program, cwd: resolved.project, env: resolved.env })
  const before: PreToolUseHook[] = []
  const after: PostToolUseHook[] = []
  for (const given of options.hooks ?? []) {
    const hook = 'command' in given ? toHook(given, run) : given
    if ('before' in hook) before.push(hook)
    else after.push(hook)
  }
  return { before, after }
}

/** A single tool is a source `code` of its own. What is neither tool nor source is a fault of the options, found there. */
function toSources(tools: readonly (Tool | ToolSource)[]): ToolSource[] {
  return tools.filter((given) => isToolSource(given) || isTool(given)).map(toSource)
}

function toSource(given: Tool | ToolSource): ToolSource {
  return 'list' in given ? given : { id: 'code', kind: 'code', list: () => [given] }
}

/** What happens at registration belongs to no session. */
function toEvent(report: RegistryReport, at: number): RuntimeEvent {
  const { type, tool, message } = report
  return { type, sequence: 0, level: 'failure', at, tenant: '', session: '', tool, summary: message }
}

function printFault({ call, tool, cause }: Parameters<OnFault>[0]): void {
  const message =
    cause instanceof Error
      ? `${cause.message}${cause.cause instanceof Error ? `: ${cause.cause.message}` : ''}`
      : String(cause)
  process.stderr.write(
    `handrail: fault ${[tool, call].filter((part) => part !== '').join(' ')}: ${message}\n`,
  )
}
