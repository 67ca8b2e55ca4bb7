import type { ApprovalAnswer, Approver } from '../../../contract/approval.ts'
import type { Face } from '../../../contract/base/call.ts'
import type { Artifact } from '../../../contract/base/result.ts'
import type { RuntimeEvent } from '../../../contract/events.ts'
import type { Responder } from '../../../contract/base/inquiry.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { Runtime, Session, SessionOptions } from '../../../contract/runtime.ts'
import type { ServerLines } from '../../../contract/mcp/server-line.ts'
import { newId } from '../../../kit/new-id.ts'
import { findWireName, type WireNames } from '../../translate/wire-names.ts'
import { createClientResponder, declinePresumed } from '../calls/ask-client.ts'
import { createChanges, type Changes } from './changes.ts'
import type { ListForm } from './list-json.ts'
import { openCall, type OpenCall } from '../calls/open-call.ts'
import type { ReadyJson } from './ready-json.ts'
import { createKeptArtifacts, type KeptArtifacts } from './kept-artifacts.ts'
import { shareJson, shareNames } from './tool-lists.ts'

/** What an MCP server serves. */
export interface ServedRuntime {
  readonly runtime: Runtime
  /** The MCP servers behind its tools. Default: none. */
  readonly servers?: ServerLines
  /** Names and schemas that clients see. Default `canonical`. */
  readonly face?: Face
  /** Asks the person where the client cannot, such as on a terminal. Default the runtime's own approver. */
  readonly approve?: Approver
  /** Answers what calls ask where the client cannot. Default: it is declined. */
  readonly respond?: Responder
  /** How the sessions of clients are opened: role, mode, allowed tools. */
  readonly session?: Omit<SessionOptions, 'approve' | 'respond' | 'signal'>
}

/** A call as a client asks for it. */
export interface AskedCall {
  readonly name: string
  readonly input: unknown
  readonly idempotencyKey: string | undefined
  /** Id of a standing consent. */
  readonly consent: string | undefined
  /** `traceparent` of the client. */
  readonly trace: string | undefined
  /** Whether the client can put questions to its person. */
  readonly canAsk: boolean
  /** What the client can do for a call. Default: nothing. */
  readonly capabilities?: JsonObject
  /** Whether what it leaves is none of the client's resources. Default false. */
  readonly unkept?: boolean
  /** Told the id under which the tool will find the call. */
  readonly onId?: (toolCallId: string) => void
}

/** What one MCP client, or all stateless ones of one caller, share: a session of the runtime. */
export interface ClientSession {
  /** The tools that there are now, as `tools/list` shows them. Whether the client can ask changes nothing of them. */
  list(form: ListForm, canAsk: boolean): ReadyJson
  /** From now on its changes are those from the tools that there are now. */
  noteTools(canAsk: boolean): void
  /** Whether there is a tool of this canonical name now. */
  has(canonical: string, canAsk: boolean): boolean
  /** Resolves when servers that are seen for the first time have shown their tools, or a client would wait too long for them. */
  settled(): Promise<void>
  /**
   * For a call by a name that the client was not shown: takes the tools that there are now, and waits for servers that are seen for the first
   * time where it is none of them. Undefined if there is nothing to wait for.
   */
  find(name: string, canAsk: boolean): Promise<void> | undefined
  /** What changes for it, by any cause. */
  readonly changes: Changes
  /** What its calls left. */
  readonly artifacts: KeptArtifacts
  /** The bytes of an artifact that a call of it gave; undefined if they are not kept any more. */
  bytesOf(artifact: Artifact): Promise<Uint8Array | undefined>
  /** Starts a call. An unknown name takes the road too, which says what is near and keeps the evidence. */
  begin(asked: AskedCall): OpenCall
  /** How many of its calls have not ended, with those that wait for the client to come back. */
  readonly running: number
  /** How many commands run in its background. */
  readonly jobs: number
  wireNameOf(canonical: string): string | undefined
  /** Aborts what runs and forgets the grants. */
  close(): Promise<void>
}

/** A session of the runtime and its tools, as the policy of now lets them through. */
interface Lane {
  readonly session: Session
  readonly names: () => WireNames
  /** Takes the tools that there are now. */
  readonly renew: () => void
  /** Sees to it that calls get their progress. Only on demand: a watched session has to tell everything. */
  readonly watch: () => void
}

/**
 * Opens sessions of the runtime when they are first used. A client that lists tools sees those that there are then; `alone` says that
 * each of its calls stands alone, and finds what there is then too. A client that cannot ask its person gets one without our
 * approver, so that the road knows that no person can be asked.
 */
export function createClientSession({
  runtime,
  servers,
  face = 'canonical',
  approve,
  respond,
  session: opening,
  alone = false,
}: ServedRuntime & { alone?: boolean }) {
  const lanes = new Map<boolean, Lane>()
  /** What the client was given. */
  let listed: readonly unknown[] | undefined
  const artifacts = createKeptArtifacts()
  const { tenant = 'local' } = opening ?? {}
  const changes = createChanges({
    listed: () => listed,
    tools: () => listed && namesNow(false).tools,
    resources: () => `${artifacts.version()} ${servers?.resourcesVersion(tenant) ?? 0}`,
  })
  const calls = new Map<string, Begun>()

  const ask: Approver = (request, signal) => {
    const asking = calls.get(request.toolCallId)
    if (asking?.canAsk === true)
      return asking.call.ask(request, signal).catch((error: unknown) => {
        if (!isUnknownMethod(error)) throw error
        return approve === undefined ? notTaken : approve(request, signal)
      })
    if (approve !== undefined) return approve(request, signal)
    return Promise.reject(new Error('The call does not belong to a request of this client.'))
  }
  const toClient = createClientResponder((id) => {
    const asking = calls.get(id)
    return (
      asking && {
        capabilities: asking.capabilities,
        provide: (requests, signal) => asking.call.provide(requests, signal),
      }
    )
  }, respond)
  const answer = alone ? declinePresumed(toClient) : toClient
  const onEvent = (event: RuntimeEvent): void => {
    if (event.type === 'tool_progress') calls.get(event.toolCallId ?? '')?.call.report(event)
  }
  const openLane = (canAsk: boolean): Lane => {
    const session = runtime.session({
      ...opening,
      ...(canAsk ? { approve: ask } : approve && { approve }),
      respond: answer,
    })
    return {
      session,
      names: follow(
        () => session.tools({ face, shared: true }),
        (tools) => shareNames(runtime, tools),
      ),
      renew: onNewVersion(runtime, () => session.refresh()),
      watch: once(() => session.on(onEvent)),
    }
  }
  const laneOf = (canAsk: boolean): Lane => {
    const lane = lanes.get(canAsk) ?? openLane(canAsk)
    lanes.set(canAsk, lane)
    return lane
  }
  const anyLane = (): Lane | undefined => lanes.values().next().value
  const namesNow = (canAsk: boolean): WireNames => {
    // A client that only looks needs no second session.
    const lane = anyLane() ?? laneOf(canAsk)
    for (const each of lanes.values()) each.renew()
    return lane.names()
  }
  const note = (canAsk: boolean): WireNames => {
    const names = namesNow(canAsk)
    listed = names.tools
    return names
  }

  /** Tools that cannot be called now have a name too, and the road says why they cannot. */
  const findHidden = (name: string): string | undefined =>
    findWireName(name, runtime.registry.view(tenant).list(), face)

  const isThere = (name: string, canAsk: boolean): boolean => laneOf(canAsk).names().find(name) !== undefined
  const look = async (name: string, canAsk: boolean): Promise<void> => {
    laneOf(canAsk).renew()
    if (isThere(name, canAsk)) return
    await runtime.settled(settleMs)
    laneOf(canAsk).renew()
  }

  const client: ClientSession = {
    settled: () => runtime.settled(settleMs),
    find: (name, canAsk) => (isThere(name, canAsk) ? undefined : look(name, canAsk)),
    list: (form, canAsk) => shareJson(runtime, note(canAsk), form),
    noteTools: (canAsk) => void note(canAsk),
    has: (canonical, canAsk) => namesNow(canAsk).wireNameOf(canonical) !== undefined,
    changes,
    artifacts,
    bytesOf: ({ digest }) => runtime.artifacts.get(digest),
    begin(asked) {
      const { canAsk } = asked
      const lane = laneOf(canAsk)
      if (alone) lane.renew()
      const tool = lane.names().find(asked.name)
      const name = tool?.name ?? findHidden(asked.name) ?? asked.name
      // Made here, not taken from the client, whose request ids start anew with every connection.
      const id = newId('req', Date.now())
      asked.onId?.(id)
      const run = (signal: AbortSignal) =>
        lane.session.call(name, asked.input, {
          id,
          face: tool?.face ?? face,
          origin: 'llm',
          signal,
          ...(asked.idempotencyKey !== undefined && { idempotencyKey: asked.idempotencyKey }),
          ...(asked.consent !== undefined && { consent: asked.consent }),
          ...(asked.trace !== undefined && { trace: asked.trace }),
          ...(name !== asked.name && { rawName: asked.name }),
        })
      const call = openCall(tool, { run, watch: lane.watch })
      calls.set(id, { call, canAsk, capabilities: asked.capabilities ?? nothing })
      const forget = (): boolean => calls.delete(id)
      call.ended.then(forget, forget)
      if (asked.unkept !== true)
        call.ended.then(
          (result) => artifacts.add(result),
          () => {},
        )
      return call
    },
    get running() {
      return calls.size
    },
    get jobs() {
      const all = [...lanes.values()].flatMap(({ session }) => session.jobs())
      return all.filter(({ end }) => end === undefined).length
    },
    wireNameOf: (canonical) => anyLane()?.names().wireNameOf(canonical),
    async close() {
      changes.close()
      await Promise.all([...lanes.values()].map((lane) => lane.session.close()))
    },
  }
  return client
}

/** A client may declare that it asks its person, and know no such request all the same. */
function isUnknownMethod(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === -32_601
}

const notTaken: ApprovalAnswer = {
  decision: 'deny',
  reason: 'not taken by the client',
  metadata: { unanswered: true },
}

/** A call of the client. */
interface Begun {
  readonly call: OpenCall
  readonly canAsk: boolean
  readonly capabilities: JsonObject
}

const nothing: JsonObject = {}

/** How long a client that lists tools waits for servers that were never seen before. */
const settleMs = 5_000

/** What is made from a thing, made again only when the thing is another one. */
function follow<From, To>(read: () => From, make: (from: From) => To): () => To {
  let made: { from: From; to: To } | undefined
  return () => {
    const from = read()
    if (made?.from !== from) made = { from, to: make(from) }
    return made.to
  }
}

/** Does it where tools changed since it was made, or last done. */
function onNewVersion({ registry }: Runtime, work: () => void): () => void {
  let seen = registry.version()
  return () => {
    const now = registry.version()
    if (now === seen) return
    seen = now
    work()
  }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}
