import { basename } from 'node:path'
import { types } from 'node:util'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { CallHistory } from '../../../contract/history.ts'
import type { ElicitationResult, ElicitationRequest } from '../../../contract/base/elicitation.ts'
import type { Instructions } from '../../../contract/base/instructions.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { Artifact } from '../../../contract/base/result.ts'
import type { ArtifactSink } from '../../../contract/base/sandbox.ts'
import { ownServices } from '../../../contract/base/services.ts'
import type { Tasks } from '../../../contract/base/tasks.ts'
import type { ToolContext } from '../../../contract/base/tool.ts'
import { copyJson } from '../../../kit/json/copy-json.ts'
import { isTextType } from '../../../kit/result/is-text-type.ts'
import { createRedactingStream } from '../../../kit/secrets/redact-stream.ts'
import { tellWatcher } from '../../../kit/time/tell-watcher.ts'
import { releaseBytes } from '../../../kit/release-bytes.ts'
import type { Redactor } from '../../../kit/secrets/redact.ts'
import { boundSink, createArtifactRoom, type ArtifactRoom } from '../../output/artifact-room.ts'
import type { Admitted } from '../../state/call-state.ts'
import type { CallScope } from '../../state/scope.ts'
import { boundFiles, boundSearch } from '../../limits/bound-effects.ts'
import { openPastCalls } from '../../undo/open-past-calls.ts'
import { openArtifacts } from '../../keep/open-artifacts.ts'
import { openPlanMode } from '../../planning/open-plan-mode.ts'
import { openSkills } from '../../skills/open-skills.ts'
import { openTodos } from '../../planning/open-todos.ts'
import { followOutput } from '../../follow-output.ts'
import { elicit } from '../../elicitation/elicit.ts'
import { createChangesPermit } from '../../permission/permit-changes.ts'
import { toHold } from '../../permission/to-hold.ts'
import { createHostPermit } from '../../permission/permit-host.ts'
import { createSessionResources } from '../../keep/session-resources.ts'
import { openAgents, openTeams } from '../../keep/open-agents.ts'
import { openModelSettings } from '../../keep/open-model-settings.ts'
import { openSchedules } from '../../planning/open-schedules.ts'
import { createSessionJobs } from '../../keep/session-jobs.ts'
import type { RunWatch } from '../../limits/run-watch.ts'
import { byteRedactorOf, redactorOf } from '../../record/treatments.ts'

/** What a tool is given while it runs: facts about its call, and only the services that it names in `needs`. */
export function createCallContext(admitted: Admitted, scope: CallScope, watch: RunWatch): ToolContext {
  const { tenant } = scope
  const context = new (contextsOf(tenant.services))(admitted, scope, watch)
  const { needs, permission, capabilities } = admitted.registered.definition
  if (needs.length === 0) return context
  // A readonly program runs too; that it has no directories to write to is in its profile.
  const access = permission === 'write' || capabilities.proc.executables.length > 0 ? 'write' : 'read'
  const meter = admitted.budget?.meter
  const history = access === 'write' ? openHistory(admitted, scope) : undefined
  const effects = tenant.sandbox.enter(admitted.profile, {
    access,
    signal: () => watch.signal,
    hidden: () => context.sensitiveGlobs,
    permitHost: createHostPermit(admitted, scope),
    permitChanges: createChangesPermit({ admitted, scope, watch }),
    hold: toHold(admitted, scope),
    ...(history !== undefined && { history }),
    ...(meter !== undefined && { onCpuMs: (cpuMs: number) => void (meter.cpuMs += cpuMs) }),
  })
  const available: Record<string, unknown> = { ...tenant.services, ...effects }
  const bounds = { definition: admitted.registered.definition, project: tenant.project }
  if (needs.includes('files')) available['files'] = boundFiles(effects.files, bounds)
  if (needs.includes('search')) available['search'] = boundSearch(effects.search, bounds)
  if (needs.includes('jobs'))
    available['jobs'] = createSessionJobs({ admitted, scope, watch, hidden: () => context.sensitiveGlobs })
  if (needs.includes('sessionResources'))
    available['sessionResources'] = createSessionResources(admitted, scope, () => context.sensitiveGlobs)
  if (needs.includes('instructions')) available['instructions'] = createInstructions(admitted, scope, watch)
  if (needs.includes('artifacts')) available['artifacts'] = openArtifacts(scope)
  if (needs.includes('agents')) available['agents'] = openAgents(admitted, scope, watch)
  if (needs.includes('teams')) available['teams'] = openTeams(admitted, scope, watch)
  if (needs.includes('pastCalls')) available['pastCalls'] = openPastCalls(scope, history)
  if (needs.includes('planMode')) available['planMode'] = openPlanMode(admitted, scope)
  if (needs.includes('skills')) available['skills'] = openSkills(scope)
  if (needs.includes('todos')) available['todos'] = openTodos(admitted, scope)
  if (needs.includes('tasks')) available['tasks'] = openTasks(admitted, scope, watch)
  const ended = (): boolean => watch.ended !== undefined || watch.answered
  if (needs.includes('schedules')) available['schedules'] = openSchedules(admitted, scope, ended)
  if (needs.includes('modelSettings')) available['modelSettings'] = openModelSettings(admitted, scope, ended)
  for (const need of needs)
    Object.defineProperty(context, need, { value: available[need], enumerable: true, writable: true })
  return context
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

const contextsByServices = new WeakMap<object, typeof CallContext>()

/** Contexts that notice if a tool looks for a service that it does not name: one of Handrail, or one of these of its host. */
function contextsOf(services: Readonly<Record<string, unknown>>): typeof CallContext {
  const known = contextsByServices.get(services)
  if (known !== undefined) return known
  const Contexts = class extends CallContext {}
  // A fact of the call stays that, whatever a host calls its services.
  for (const name of [...ownServices, ...Object.keys(services)])
    if (!(name in CallContext.prototype))
      Object.defineProperty(Contexts.prototype, name, {
        configurable: true,
        get(this: CallContext) {
          return this.lookFor(name)
        },
      })
  contextsByServices.set(services, Contexts)
  return Contexts
}

/** What a tool threw because it used a service that it does not name, with what to do; anything else as it is. */
export function explainThrown(thrown: unknown, context: ToolContext): unknown {
  const missing = context instanceof CallContext ? [...context.lookedFor] : []
  // A tool may throw anything, such as a proxy that throws if it is looked at.
  if (missing.length === 0 || !types.isNativeError(thrown) || thrown.name !== 'TypeError') return thrown
  if (!/undefined|not a function/.test(thrown.message)) return thrown
  const names = missing.map((name) => `"${name}"`).join(', ')
  const [service, is] = missing.length === 1 ? ['service', 'is'] : ['services', 'are']
  return new Error(
    `${thrown.message}. It looked for the ${service} ${names}, which ${is} not among the "needs" of its definition: its developer has to add ${names} there.`,
  )
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
    ended: () => watch.ended !== undefined || watch.answered,
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

class CallContext implements ToolContext {
  readonly #admitted: Admitted
  readonly #scope: CallScope
  readonly #watch: RunWatch
  /** Services that the tool does not name, and looked for. */
  readonly lookedFor = new Set<string>()
  #elicitations = 0
  #settings: JsonObject | undefined
  #room: ArtifactRoom | undefined

  constructor(admitted: Admitted, scope: CallScope, watch: RunWatch) {
    this.#admitted = admitted
    this.#scope = scope
    this.#watch = watch
  }

  lookFor(name: string): undefined {
    this.lookedFor.add(name)
  }

  get callId() {
    return this.#admitted.call.id
  }
  get toolCallId() {
    return this.#admitted.call.toolCallId
  }
  get session() {
    return this.#scope.session.id
  }
  get principal() {
    return this.#scope.session.principal
  }
  get caller() {
    return this.#admitted.caller
  }
  get project() {
    return this.#scope.tenant.project
  }
  get settings(): JsonObject {
    const settings = this.#scope.tenant.settings[this.#admitted.registered.definition.name]
    return (this.#settings ??= copyJson(settings ?? {}))
  }
  get signal() {
    return this.#watch.signal
  }
  get planned() {
    return this.#admitted.plan.planned
  }
  get sensitiveGlobs() {
    const { principal, mode, ancestors } = this.#scope.session
    return this.#scope.tenant.policy.hiddenGlobs({
      definition: this.#admitted.registered.definition,
      principal,
      mode,
      ancestors,
    })
  }
  get artifactSink(): ArtifactSink {
    const redactor = byteRedactorOf(this.#admitted.registered, this.#scope)
    return createRedactingSink(boundSink(this.#scope.tenant.artifacts, this.#artifactRoom()), redactor)
  }

  // Functions come from getters, so that `{ progress }` taken out of its context still knows its call.
  get progress(): ToolContext['progress'] {
    return (update) => this.#progress(update)
  }
  get followOutput(): ToolContext['followOutput'] {
    const redactor = byteRedactorOf(this.#admitted.registered, this.#scope)
    return () => followOutput(redactor, (message) => this.#progress({ message }))
  }
  get artifact(): ToolContext['artifact'] {
    return (bytes, about) => this.#artifact(bytes, about)
  }
  get secret(): ToolContext['secret'] {
    return (name) => this.#secret(name)
  }
  get elicit(): ToolContext['elicit'] {
    return (request, signal) => this.#elicit(request, signal)
  }
  get canElicit(): boolean {
    return this.#admitted.elicit !== undefined
  }
  get awaitPerson(): ToolContext['awaitPerson'] {
    return (work, counts) => this.#awaitPerson(work, counts)
  }

  #progress(update: Parameters<ToolContext['progress']>[0]): void {
    const { session, tenant } = this.#scope
    const { call, registered, onProgress } = this.#admitted
    const watched = session.watched()
    if (this.#watch.answered || (!watched && onProgress === undefined)) return
    // What it prints is shown once the person has let it.
    if (this.#admitted.deferred) return
    const { definition } = registered
    const message = redactorOf(registered, this.#scope).text(update.message ?? '')
    const data = {
      ...(update.done !== undefined && { done: update.done }),
      ...(update.total !== undefined && { total: update.total }),
    }
    if (onProgress !== undefined)
      tellWatcher(onProgress, { message, ...data }, (cause) =>
        tenant.logError({ call: call.id, tool: definition.name, cause }),
      )
    if (!watched) return
    session.emit({
      type: 'tool_progress',
      level: 'info',
      call: call.id,
      toolCallId: call.toolCallId,
      tool: definition.name,
      summary: message,
      data,
    })
  }

  #artifactRoom(): ArtifactRoom {
    return (this.#room ??= createArtifactRoom(this.#scope.tenant.limits.artifactBytes))
  }

  async #artifact(bytes: Uint8Array | string, about: { mimeType: string; name?: string }): Promise<Artifact> {
    const { artifacts } = this.#scope.tenant
    const { registered } = this.#admitted
    const redactor = redactorOf(registered, this.#scope)
    const { mimeType, name } = checkAbout(about)
    const clean = {
      mimeType: redactor.text(mimeType),
      ...(name !== undefined && { name: redactor.text(name) }),
    }
    const kept =
      typeof bytes === 'string'
        ? Buffer.from(redactor.text(bytes))
        : isTextType(mimeType)
          ? redactBytes(toBytes(bytes), byteRedactorOf(registered, this.#scope))
          : withoutSecrets(toBytes(bytes), redactor)
    this.#artifactRoom().takeAll(kept.length)
    return artifacts.put(kept, clean)
  }

  async #elicit(request: ElicitationRequest, withdrawn: AbortSignal | undefined): Promise<ElicitationResult> {
    if (this.#watch.answered) return { action: 'cancel' }
    const { over } = this.#watch
    const signal = withdrawn === undefined ? over : AbortSignal.any([over, withdrawn])
    return elicit(request, {
      admitted: this.#admitted,
      scope: this.#scope,
      count: ++this.#elicitations,
      signal,
      hold: (longestMs) => this.#watch.hold(longestMs),
    })
  }

  async #awaitPerson<Given>(work: () => Promise<Given>, counts: 'elsewhere' | undefined): Promise<Given> {
    const letGo = this.#watch.hold(this.#scope.tenant.limits.elicitationTimeoutMs, counts === 'elsewhere')
    try {
      return await work()
    } finally {
      letGo()
    }
  }

  #secret(name: string): string {
    const { secrets } = this.#admitted.profile
    const { secrets: held } = this.#scope.tenant
    const value = Object.hasOwn(held, name) ? held[name] : undefined
    if (secrets.includes(name) && value !== undefined) return value
    throw new ToolFailure({
      reason: 'service_missing',
      message: secrets.includes(name)
        ? `The secret "${name}" was not given to this runtime. Ask the operator for it.`
        : `"${this.#admitted.registered.definition.name}" may not have the secret "${name}": its manifest does not name the secret, or no grant of this session covers it.`,
    })
  }
}

/** Tools are not checked by a compiler alone: whatever can be gone through would be, to its end if it has one. */
function toBytes(given: unknown): Uint8Array {
  if (ArrayBuffer.isView(given)) return new Uint8Array(given.buffer, given.byteOffset, given.byteLength)
  if (types.isAnyArrayBuffer(given)) return new Uint8Array(given)
  throw unusable('takes text or bytes', given)
}

function checkAbout(about: unknown): { mimeType: string; name?: string } {
  const { mimeType, name }: Record<string, unknown> = Object(about)
  if (typeof mimeType !== 'string') throw unusable('wants to know a "mimeType"', mimeType)
  if (name !== undefined && typeof name !== 'string') throw unusable('takes a text as "name"', name)
  return { mimeType, ...(name !== undefined && { name }) }
}

function unusable(wanted: string, given: unknown): ToolFailure {
  return new ToolFailure({
    reason: 'failed',
    message: `context.artifact ${wanted}; it was given ${given === null ? 'null' : `a value of the type ${typeof given}`}. Tell the developer of the tool.`,
  })
}

function redactBytes(bytes: Uint8Array, redactor: Redactor): Uint8Array {
  const stream = createRedactingStream(redactor)
  return Buffer.concat([stream.push(bytes), stream.end()])
}

/** Bytes that are no text have no tokens by their shape, and may have a secret in them all the same. */
function withoutSecrets(bytes: Uint8Array, redactor: Redactor): Uint8Array {
  const letters = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const clean = redactor.binary(letters)
  return clean === letters ? bytes : Buffer.from(clean, 'latin1')
}

/** What a running command prints reaches its artifact without secrets. */
function createRedactingSink(artifacts: ArtifactSink, redactor: Redactor): ArtifactSink {
  return {
    open(about) {
      const writer = artifacts.open(about)
      const stream = createRedactingStream(redactor)
      return {
        write(bytes) {
          const ready = stream.push(bytes)
          writer.write(ready)
          releaseBytes(ready)
        },
        async finish() {
          writer.write(stream.end())
          return writer.finish()
        },
        abandon: () => writer.abandon(),
      }
    },
  }
}
