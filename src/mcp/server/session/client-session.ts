import type { Approver } from '../../../contract/approval.ts'
import type { Presentation } from '../../../contract/base/call.ts'
import type { Artifact } from '../../../contract/base/result.ts'
import type { ElicitationHandler } from '../../../contract/base/elicitation.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { Runtime, SessionOptions } from '../../../contract/runtime.ts'
import type { ServerConnections } from '../../../contract/mcp/direct-connection.ts'
import { newId } from '../../../kit/new-id.ts'
import { renameTools } from '../../../kit/names/rename-tools.ts'
import { findWireName, toHiddenWireName, type WireNames } from '../../translate/wire-names.ts'
import { toCaller } from '../calls/ask-client.ts'
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
  readonly servers?: ServerConnections
  /** Names and schemas that clients see. Default `canonical`. */
  readonly presentation?: Presentation
  /** Asks the person where the client cannot, such as on a terminal. Default the runtime's own approver. */
  readonly approve?: Approver
  /** Answers what calls ask where the client cannot. Default: it is declined. */
  readonly elicit?: ElicitationHandler
  /** How the sessions of clients are opened: role, mode, allowed tools. */
  readonly session?: Omit<SessionOptions, 'approve' | 'elicit' | 'signal'>
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
  /** What the client can do for the call. Default: nothing. */
  readonly capabilities?: JsonObject
  /** Whether what it leaves is none of the client's resources. Default false. */
  readonly unkept?: boolean
  /** What the tool finds as its caller. Default: nothing. */
  readonly caller?: unknown
  /** Whether it is answered once the job that it starts has ended. Default false. */
  readonly follow?: boolean
}

/** What one MCP client, or all stateless ones of one caller, share: a session of the runtime. */
export interface ClientSession {
  /** The tools that there are now, as `tools/list` shows them. */
  list(form: ListForm): ReadyJson
  /** From now on its changes are those from the tools that there are now. */
  noteTools(): void
  /** Whether there is a tool of this canonical name now. */
  has(canonical: string): boolean
  /** Resolves when servers that are seen for the first time have shown their tools, or a client would wait too long for them. */
  settled(): Promise<void>
  /**
   * For a call by a name that the client was not shown: takes the tools that there are now, and waits for servers that are seen for the first
   * time where it is none of them. Undefined if there is nothing to wait for.
   */
  find(name: string): Promise<void> | undefined
  /** What changes for it, by any cause. */
  readonly changes: Changes
  /** What its calls left. */
  readonly artifacts: KeptArtifacts
  /** The bytes of an artifact that a call of it gave; undefined if they are not kept any more. */
  bytesOf(artifact: Artifact): Promise<Uint8Array | undefined>
  /** Starts a call. An unknown name goes through the pipeline too, which says what is near and keeps the evidence. */
  begin(asked: AskedCall): OpenCall
  /** How many of its calls have not ended, with those that wait for the client to come back. */
  readonly running: number
  /** How many commands run in its background. */
  readonly jobs: number
  /** Undefined for a tool that the client cannot call now. */
  wireNameOf(canonical: string): string | undefined
  /** A text with the wire names of the tools that it names, whether or not the client can call them now. */
  inWireNames(text: string): string
  /** Aborts what runs and forgets the grants. */
  close(): Promise<void>
}

/**
 * Opens a session of the runtime when it is first used. A client that lists tools sees those that there are then; `alone` says that
 * each of its calls stands alone, and finds what there is then too.
 */
export function createClientSession(served: ServedRuntime & { alone?: boolean }) {
  const { runtime, servers, presentation = 'canonical', session: opening, alone = false } = served
  const open = once(() => openSession(served))
  /** What the client was given. */
  let listed: readonly unknown[] | undefined
  const artifacts = createKeptArtifacts()
  const { tenant = 'local' } = opening ?? {}
  const changes = createChanges({
    listed: () => listed,
    tools: () => listed && namesNow().tools,
    resources: () => `${artifacts.version()} ${servers?.resourcesVersion(tenant) ?? 0}`,
  })
  const calls = new Set<OpenCall>()
  const namesNow = (): WireNames => {
    open().renew()
    return open().names()
  }
  const note = (): WireNames => {
    const names = namesNow()
    listed = names.tools
    return names
  }
  const isThere = (name: string): boolean => open().names().find(name) !== undefined
  const look = async (name: string): Promise<void> => {
    const { renew } = open()
    renew()
    if (isThere(name)) return
    await runtime.settled()
    renew()
  }

  const client: ClientSession = {
    settled: () => runtime.settled(),
    find: (name) => (isThere(name) ? undefined : look(name)),
    list: (form) => shareJson(runtime, note(), form),
    noteTools: () => void note(),
    has: (canonical) => namesNow().wireNameOf(canonical) !== undefined,
    changes,
    artifacts,
    bytesOf: ({ digest }) => runtime.artifacts.get(digest),
    begin(asked) {
      const { session, names, renew } = open()
      if (alone) renew()
      const tool = names().find(asked.name)
      const name = tool?.name ?? findHidden(asked.name, served) ?? asked.name
      const call: OpenCall = openCall(tool, (signal) =>
        session.call(name, asked.input, {
          // Made here, not taken from the client, whose request ids start anew with every connection.
          id: newId('req', Date.now()),
          presentation: tool?.presentation ?? presentation,
          origin: 'llm',
          signal,
          ...toCaller(call, { ...asked, actor: opening?.actor ?? 'user' }, served),
          ...toCallOptions(asked, name),
        }),
      )
      calls.add(call)
      const forget = (): boolean => calls.delete(call)
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
      return (open.made?.session.jobs() ?? []).filter(({ end }) => end === undefined).length
    },
    wireNameOf: (canonical) => open.made?.names().wireNameOf(canonical),
    inWireNames: (text) =>
      renameTools(text, (name) => client.wireNameOf(name) ?? wireNameOfHidden(name, served)),
    async close() {
      changes.close()
      await open.made?.session.close()
    },
  }
  return client
}

/** The options of a call that its client named; `name` is that of the tool. */
function toCallOptions({ idempotencyKey, consent, trace, follow, name: rawName }: AskedCall, name: string) {
  return {
    ...(follow === true && { follow }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(consent !== undefined && { consent }),
    ...(trace !== undefined && { trace }),
    ...(name !== rawName && { rawName }),
  }
}

/** Tools that cannot be called now have a name too, and the pipeline says why they cannot. */
function findHidden(name: string, { runtime, presentation, session }: ServedRuntime): string | undefined {
  return findWireName(
    name,
    runtime.registry.view(session?.tenant ?? 'local').list(),
    presentation ?? 'canonical',
  )
}

/** Undefined for a name of no tool. */
function wireNameOfHidden(
  canonical: string,
  { runtime, presentation = 'canonical', session }: ServedRuntime,
): string | undefined {
  const tool = runtime.registry.view(session?.tenant ?? 'local').find(canonical)
  return tool && toHiddenWireName(tool, presentation)
}

/** A session of the runtime and its tools, as the policy of now lets them through. */
function openSession({
  runtime,
  presentation = 'canonical',
  approve,
  elicit,
  session: opening,
}: ServedRuntime) {
  const session = runtime.session({ ...opening, ...(approve && { approve }), ...(elicit && { elicit }) })
  return {
    session,
    names: follow(
      () => session.tools({ presentation, shared: true }),
      (tools) => shareNames(runtime, tools),
    ),
    /** Takes the tools that there are now. */
    renew: onNewVersion(runtime, () => session.refresh()),
  }
}

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

/** Makes it when it is first called for; `made` is it, if it was. */
function once<T>(make: () => T): { (): T; readonly made?: T } {
  const get: { (): T; made?: T } = () => (get.made ??= make())
  return get
}
