import { basename } from 'node:path'
import { types } from 'node:util'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { InquiryAnswer, InquiryRequest } from '../../../contract/base/inquiry.ts'
import type { Instructions } from '../../../contract/base/instructions.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { Artifact } from '../../../contract/base/result.ts'
import type { ArtifactSink } from '../../../contract/base/sandbox.ts'
import { ownSupplies } from '../../../contract/base/supplies.ts'
import type { ToolContext } from '../../../contract/base/tool.ts'
import { copyJson } from '../../../kit/json/copy-json.ts'
import { isTextType } from '../../../kit/result/is-text-type.ts'
import { createRedactingStream } from '../../../kit/secrets/redact-stream.ts'
import { releaseBytes } from '../../../kit/release-bytes.ts'
import type { Redactor } from '../../../kit/secrets/redact.ts'
import { boundSink, createArtifactRoom, type ArtifactRoom } from '../../output/artifact-room.ts'
import type { Admitted } from '../../state/passage.ts'
import type { Road } from '../../state/ground.ts'
import { boundFiles, boundSearch } from '../../limits/bound-effects.ts'
import { openArtifacts } from '../../keep/open-artifacts.ts'
import { followOutput } from '../../follow-output.ts'
import { inquire } from '../../elicitation/inquire.ts'
import { createHostPermit } from '../../permission/permit-host.ts'
import { createSessionCompanions } from '../../keep/session-companions.ts'
import { createSessionJobs } from '../../keep/session-jobs.ts'
import type { RunWatch } from '../../limits/run-watch.ts'
import { byteRedactorOf, redactorOf } from '../../record/treatments.ts'

/** What a tool is given while it runs: facts about its call, and only the supplies that it names in `needs`. */
export function createCallContext(admitted: Admitted, road: Road, watch: RunWatch): ToolContext {
  const { ground } = road
  const context = new (contextsOf(ground.supplies))(admitted, road, watch)
  const { needs, permission, capabilities } = admitted.registered.definition
  if (needs.length === 0) return context
  // A readonly program runs too; that it has no directories to write to is in its profile.
  const access = permission === 'write' || capabilities.proc.executables.length > 0 ? 'write' : 'read'
  const meter = admitted.budget?.meter
  const effects = ground.sandbox.enter(admitted.profile, {
    access,
    signal: () => watch.signal,
    hidden: () => context.sensitiveGlobs,
    permitHost: createHostPermit(admitted, road),
    ...(meter !== undefined && { onCpuMs: (cpuMs: number) => void (meter.cpuMs += cpuMs) }),
  })
  const available: Record<string, unknown> = { ...ground.supplies, ...effects }
  const bounds = { definition: admitted.registered.definition, project: ground.project }
  if (needs.includes('files')) available['files'] = boundFiles(effects.files, bounds)
  if (needs.includes('search')) available['search'] = boundSearch(effects.search, bounds)
  if (needs.includes('jobs'))
    available['jobs'] = createSessionJobs({ admitted, road, watch, hidden: () => context.sensitiveGlobs })
  if (needs.includes('companions'))
    available['companions'] = createSessionCompanions(admitted, road, () => context.sensitiveGlobs)
  if (needs.includes('instructions')) available['instructions'] = createInstructions(admitted, road, watch)
  if (needs.includes('artifacts')) available['artifacts'] = openArtifacts(road)
  for (const need of needs)
    Object.defineProperty(context, need, { value: available[need], enumerable: true, writable: true })
  return context
}

const contextsBySupplies = new WeakMap<object, typeof CallContext>()

/** Contexts that notice if a tool looks for a supply that it does not name: one of Handrail, or one of these of its host. */
function contextsOf(supplies: Readonly<Record<string, unknown>>): typeof CallContext {
  const known = contextsBySupplies.get(supplies)
  if (known !== undefined) return known
  const Contexts = class extends CallContext {}
  // A fact of the call stays that, whatever a host calls its supplies.
  for (const name of [...ownSupplies, ...Object.keys(supplies)])
    if (!(name in CallContext.prototype))
      Object.defineProperty(Contexts.prototype, name, {
        configurable: true,
        get(this: CallContext) {
          return this.lookFor(name)
        },
      })
  contextsBySupplies.set(supplies, Contexts)
  return Contexts
}

/** What a tool threw because it used a supply that it does not name, with what to do; anything else as it is. */
export function explainThrown(thrown: unknown, context: ToolContext): unknown {
  const missing = context instanceof CallContext ? [...context.lookedFor] : []
  // A tool may throw anything, such as a proxy that throws if it is looked at.
  if (missing.length === 0 || !types.isNativeError(thrown) || thrown.name !== 'TypeError') return thrown
  if (!/undefined|not a function/.test(thrown.message)) return thrown
  const names = missing.map((name) => `"${name}"`).join(', ')
  const [supply, is] = missing.length === 1 ? ['supply', 'is'] : ['supplies', 'are']
  return new Error(
    `${thrown.message}. It looked for the ${supply} ${names}, which ${is} not among the "needs" of its definition: its developer has to add ${names} there.`,
  )
}

function createInstructions({ call }: Admitted, { ground, session }: Road, watch: RunWatch): Instructions {
  return {
    covers: (path) => ground.instructionFiles.has(basename(path)),
    found(file) {
      // A call that was answered already is not asked for what it found.
      if (watch.ended === undefined) session.instructions.expect(call.id, file)
    },
  }
}

class CallContext implements ToolContext {
  readonly #admitted: Admitted
  readonly #road: Road
  readonly #watch: RunWatch
  /** Supplies that the tool does not name, and looked for. */
  readonly lookedFor = new Set<string>()
  #inquiries = 0
  #settings: JsonObject | undefined
  #room: ArtifactRoom | undefined

  constructor(admitted: Admitted, road: Road, watch: RunWatch) {
    this.#admitted = admitted
    this.#road = road
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
    return this.#road.session.id
  }
  get principal() {
    return this.#road.session.principal
  }
  get project() {
    return this.#road.ground.project
  }
  get settings(): JsonObject {
    const settings = this.#road.ground.settings[this.#admitted.registered.definition.name]
    return (this.#settings ??= copyJson(settings ?? {}))
  }
  get signal() {
    return this.#watch.signal
  }
  get planned() {
    return this.#admitted.plan.planned
  }
  get sensitiveGlobs() {
    const { principal, mode, ancestors } = this.#road.session
    return this.#road.ground.policy.hiddenGlobs({
      definition: this.#admitted.registered.definition,
      principal,
      mode,
      ancestors,
    })
  }
  get artifactSink(): ArtifactSink {
    const redactor = byteRedactorOf(this.#admitted.registered, this.#road)
    return createRedactingSink(boundSink(this.#road.ground.artifacts, this.#artifactRoom()), redactor)
  }

  // Functions come from getters, so that `{ progress }` taken out of its context still knows its call.
  get progress(): ToolContext['progress'] {
    return (update) => this.#progress(update)
  }
  get followOutput(): ToolContext['followOutput'] {
    const redactor = byteRedactorOf(this.#admitted.registered, this.#road)
    return () => followOutput(redactor, (message) => this.#progress({ message }))
  }
  get artifact(): ToolContext['artifact'] {
    return (bytes, about) => this.#artifact(bytes, about)
  }
  get secret(): ToolContext['secret'] {
    return (name) => this.#secret(name)
  }
  get inquire(): ToolContext['inquire'] {
    return (request, signal) => this.#inquire(request, signal)
  }
  get awaitPerson(): ToolContext['awaitPerson'] {
    return (work, counts) => this.#awaitPerson(work, counts)
  }

  #progress(update: Parameters<ToolContext['progress']>[0]): void {
    const { session } = this.#road
    if (this.#watch.answered || !session.watched()) return
    const { call, registered } = this.#admitted
    session.emit({
      type: 'tool_progress',
      level: 'info',
      call: call.id,
      toolCallId: call.toolCallId,
      tool: registered.definition.name,
      summary: redactorOf(registered, this.#road).text(update.message ?? ''),
      data: {
        ...(update.done !== undefined && { done: update.done }),
        ...(update.total !== undefined && { total: update.total }),
      },
    })
  }

  #artifactRoom(): ArtifactRoom {
    return (this.#room ??= createArtifactRoom(this.#road.ground.limits.artifactBytes))
  }

  async #artifact(bytes: Uint8Array | string, about: { mimeType: string; name?: string }): Promise<Artifact> {
    const { artifacts } = this.#road.ground
    const { registered } = this.#admitted
    const redactor = redactorOf(registered, this.#road)
    const { mimeType, name } = checkAbout(about)
    const clean = {
      mimeType: redactor.text(mimeType),
      ...(name !== undefined && { name: redactor.text(name) }),
    }
    const kept =
      typeof bytes === 'string'
        ? Buffer.from(redactor.text(bytes))
        : isTextType(mimeType)
          ? redactBytes(toBytes(bytes), byteRedactorOf(registered, this.#road))
          : withoutSecrets(toBytes(bytes), redactor)
    this.#artifactRoom().takeAll(kept.length)
    return artifacts.put(kept, clean)
  }

  async #inquire(request: InquiryRequest, withdrawn: AbortSignal | undefined): Promise<InquiryAnswer> {
    if (this.#watch.answered) return { action: 'cancel' }
    const { over } = this.#watch
    const signal = withdrawn === undefined ? over : AbortSignal.any([over, withdrawn])
    return inquire(request, {
      admitted: this.#admitted,
      road: this.#road,
      count: ++this.#inquiries,
      signal,
      hold: (longestMs) => this.#watch.hold(longestMs),
    })
  }

  async #awaitPerson<Given>(work: () => Promise<Given>, counts: 'elsewhere' | undefined): Promise<Given> {
    const letGo = this.#watch.hold(this.#road.ground.limits.inquiryTimeoutMs, counts === 'elsewhere')
    try {
      return await work()
    } finally {
      letGo()
    }
  }

  #secret(name: string): string {
    const { secrets } = this.#admitted.profile
    const { secrets: held } = this.#road.ground
    const value = Object.hasOwn(held, name) ? held[name] : undefined
    if (secrets.includes(name) && value !== undefined) return value
    throw new ToolFailure({
      reason: 'supply_missing',
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
