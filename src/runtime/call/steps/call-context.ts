import { types } from 'node:util'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { ElicitationResult, ElicitationRequest } from '../../../contract/base/elicitation.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { Artifact } from '../../../contract/base/result.ts'
import type { ArtifactSink } from '../../../contract/services/sandbox.ts'
import { ownServices } from '../../../contract/tool/services.ts'
import type { ToolContext } from '../../../contract/tool/tool.ts'
import { copyJson } from '../../../kit/json/copy-json.ts'
import { isTextType } from '../../../kit/result/is-text-type.ts'
import { createRedactingStream } from '../../../kit/secrets/redact-stream.ts'
import { tellWatcher } from '../../../kit/time/tell-watcher.ts'
import { isCounterpart, toCounterpart } from '../../../kit/result/counterpart.ts'
import { releaseBytes } from '../../../kit/release-bytes.ts'
import type { Redactor } from '../../../kit/secrets/redact.ts'
import { boundSink, createArtifactRoom, type ArtifactRoom } from '../../output/artifact-room.ts'
import type { Admitted } from '../../state/call-state.ts'
import type { CallScope } from '../../state/scope.ts'
import { followOutput } from '../../output/follow-output.ts'
import { elicit } from '../../elicitation/elicit.ts'
import { openServices } from './call-services.ts'
import type { RunWatch } from '../../limits/run-watch.ts'
import { byteRedactorOf, redactorOf } from '../../record/treatments.ts'

/** What a tool is given while it runs: facts about its call, and only the services that it names in `needs`. */
export function createCallContext(admitted: Admitted, scope: CallScope, watch: RunWatch): ToolContext {
  const context = new (contextsOf(scope.tenant.services))(admitted, scope, watch)
  const { needs } = admitted.registered.definition
  if (needs.length === 0) return context
  const services = openServices({ admitted, scope, watch, hidden: () => context.sensitiveGlobs })
  for (const need of needs)
    Object.defineProperty(context, need, { value: services[need], enumerable: true, writable: true })
  return context
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
  const missing = context instanceof CallContext ? [...(context.lookedFor ?? [])] : []
  // A tool may throw anything, such as a proxy that throws if it is looked at.
  if (missing.length === 0 || !types.isNativeError(thrown) || thrown.name !== 'TypeError') return thrown
  if (!/undefined|not a function/.test(thrown.message)) return thrown
  const names = missing.map((name) => `"${name}"`).join(', ')
  const [service, is] = missing.length === 1 ? ['service', 'is'] : ['services', 'are']
  return new Error(
    `${thrown.message}. It looked for the ${service} ${names}, which ${is} not among the "needs" of its definition: its developer has to add ${names} there.`,
  )
}

class CallContext implements ToolContext {
  readonly #admitted: Admitted
  readonly #scope: CallScope
  readonly #watch: RunWatch
  /** Services that the tool does not name, and looked for. */
  lookedFor: Set<string> | undefined
  #elicitations = 0
  #settings: JsonObject | undefined
  #room: ArtifactRoom | undefined

  constructor(admitted: Admitted, scope: CallScope, watch: RunWatch) {
    this.#admitted = admitted
    this.#scope = scope
    this.#watch = watch
  }

  lookFor(name: string): undefined {
    this.lookedFor = (this.lookedFor ?? new Set()).add(name)
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
  get idempotencyKey(): string | undefined {
    return this.#admitted.call.idempotencyKey
  }
  get counterpart(): ToolContext['counterpart'] {
    return (counterpart) => {
      if (isCounterpart(counterpart)) this.#admitted.counterpart = toCounterpart(counterpart)
    }
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
