import {
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  SUPPORTED_PROTOCOL_VERSIONS,
  Server,
  isInputRequiredResult,
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  type ReadResourceResult,
  type Result,
  type ServerContext,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { ToolResult } from '../../../contract/base/result.ts'
import type { ServerGreeting, ServerLine } from '../../../contract/mcp/server-line.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { isOwnMeta, withoutOwnMeta } from '../../translate/foreign-meta.ts'
import { findServerError, toBareContents, toBareResult } from '../../translate/to-bare-result.ts'
import { toBareTool } from '../../translate/to-bare-tool.ts'
import { provide, type Passenger } from '../calls/provide.ts'
import { createCallDesk, declaredBy, takesForms, type CallDesk, type Era } from '../calls/call-desk.ts'
import type { ClientSession } from '../session/client-session.ts'
import { guarded } from '../calls/guarded.ts'
import { modernRevision, toAskedCall } from '../methods/mcp-server.ts'
import type { RequestState } from '../calls/approval-tickets.ts'
import { restoreData } from '../calls/restore-wholes.ts'
import { callTool, toProtocolError } from '../methods/call-tool.ts'
import { packageVersion } from '../session/package-version.ts'

/** What SDK servers that show one server stand on. */
export interface BareServerOptions {
  readonly client: ClientSession
  readonly line: ServerLine
  readonly greeting: ServerGreeting
  /** Calls that go over the line, the latest last. */
  readonly passengers: Set<Passenger>
  readonly log: (line: string) => void
}

interface Bare extends BareServerOptions {
  readonly desk: CallDesk
  readonly server: Server
  readonly era: Era
}

/** Builds SDK servers that show one server under its own names: its tools as governed ones, everything else as it stands. */
export function createBareServers(options: BareServerOptions): (era: Era) => Server {
  const { client, line, greeting, log } = options
  const desk = createCallDesk(log)
  return (era) => {
    const capabilities = toShown(greeting, era)
    const server = new Server(
      { name: line.server, title: line.server, version: packageVersion() },
      {
        capabilities,
        ...(greeting.instructions !== undefined && { instructions: greeting.instructions }),
        supportedProtocolVersions: [...SUPPORTED_PROTOCOL_VERSIONS, modernRevision],
        requestState: { verify: (state, context) => desk.tickets.verify(state, context) },
      },
    )
    server.onerror = (error) => log(`mcp: ${error.message}`)
    const bare: Bare = { ...options, desk, server, era }
    server.setRequestHandler('tools/list', { params: anything }, (_params, context) =>
      guarded(log, async () => {
        await client.settled()
        const offered = await reached(line.tools())
        const canAsk = takesForms(declaredBy({ server, context, era }))
        const allowed = offered.filter(({ name }) => client.has(name, canAsk))
        return { tools: allowed.map(({ said }) => toBareTool(said)) }
      }),
    )
    server.setRequestHandler('tools/call', (request, context) =>
      guarded(log, () => call(bare, request, context)),
    )
    for (const method of passedOn(capabilities))
      server.setRequestHandler(method, { params: anything }, (params, context) =>
        guarded(log, () => pass(bare, { method, params }, context)),
      )
    if ('resources' in capabilities)
      server.setRequestHandler('resources/read', ({ params }, context) =>
        guarded(log, () => read(bare, params.uri, context)),
      )
    return server
  }
}

/** What of it a client can have from here. Changes are told where there is a session to tell them in. */
function toShown({ era, capabilities }: ServerGreeting, shown: Era) {
  const live = era === 'legacy' && shown === 'legacy'
  const list = live ? { listChanged: true } : {}
  const resources = Object(capabilities['resources'])
  return {
    tools: shown === 'legacy' ? { listChanged: true } : {},
    ...('prompts' in capabilities && { prompts: list }),
    ...('resources' in capabilities && {
      resources: { ...list, ...(live && resources.subscribe === true && { subscribe: true }) },
    }),
    ...('completions' in capabilities && { completions: {} }),
    ...('logging' in capabilities && (live || shown === 'modern') && { logging: {} }),
  }
}

function passedOn(shown: ReturnType<typeof toShown>): string[] {
  return [
    ...('prompts' in shown ? ['prompts/list', 'prompts/get'] : []),
    ...('resources' in shown ? ['resources/list', 'resources/templates/list'] : []),
    ...('resources' in shown && shown.resources !== undefined && 'subscribe' in shown.resources
      ? ['resources/subscribe', 'resources/unsubscribe']
      : []),
    ...('completions' in shown ? ['completion/complete'] : []),
    ...('logging' in shown && 'listChanged' in shown.tools ? ['logging/setLevel'] : []),
  ]
}

async function call(
  bare: Bare,
  request: CallToolRequest,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { client, line, passengers, desk, server, era } = bare
  const capabilities = declaredBy({ server, context, era })
  const name = line.canonicalName(request.params.name)
  await untilThere(name, client, takesForms(capabilities))
  const leave: (() => void)[] = []
  const done = await desk.serve({ request, context, server, era }, () => {
    const passenger: Passenger = {
      context,
      capabilities,
      provide: (requests, signal) => begun.provide(requests, signal),
    }
    const load = {
      params: toParams(bare, context),
      provide: (requests: JsonObject, signal: AbortSignal) =>
        provide(passenger, { from: `MCP server "${line.server}"`, requests, signal }),
    }
    const begun = client.begin({
      ...toAskedCall(request.params),
      name,
      canAsk: takesForms(capabilities),
      capabilities,
      onId(id) {
        passengers.add(passenger)
        leave.push(line.carry(id, load), () => void passengers.delete(passenger))
      },
    })
    const end = (): void => leave.forEach((each) => each())
    begun.ended.then(end, end)
    return begun
  })
  if (isInputRequiredResult(done)) return done
  throwServerError(done.result)
  return toBareResult(await restoreData(done.result, (artifact) => client.bytesOf(artifact)))
}

/** A server that is met for the first time may have answered here before its tools are in place. */
async function untilThere(name: string, client: ClientSession, canAsk: boolean): Promise<void> {
  if (client.has(name, canAsk)) return
  await client.settled()
  // `has` takes the tools of now.
  client.has(name, canAsk)
}

/** Reads on the one road, as the tool that reads resources: the client's person may be asked. */
async function read(
  bare: Bare,
  uri: string,
  context: ServerContext,
): Promise<ReadResourceResult | InputRequiredResult> {
  const { client, line, desk, server, era } = bare
  const input = { server: line.server, uri }
  const done = await callTool({ client, desk, server, era, context }, { tool: 'mcp.read_resource', input })
  if (isInputRequiredResult(done)) return done
  if (!done.ok) throw toProtocolError(done)
  return toBareContents(done)
}

/** As it is, and as it comes back. */
async function pass(
  bare: Bare,
  { method, params }: { method: string; params: JsonObject },
  context: ServerContext,
): Promise<Result> {
  const { line, client, desk } = bare
  if (!(await isOpenTo(client, line)))
    throw new ProtocolError(
      ProtocolErrorCode.InvalidRequest,
      `None of the tools of "${line.server}" is yours.`,
    )
  const state = context.mcpReq.requestState<RequestState>()
  const request: JsonObject = {
    ...params,
    ...toParams(bare, context),
    ...(state !== undefined && { requestState: desk.tickets.unwrap(state) }),
  }
  const answer = withoutOwnMeta(await reached(line.ask(method, request, context.mcpReq.signal)))
  const { requestState } = answer
  if (typeof requestState !== 'string') return answer
  return { ...answer, requestState: await desk.tickets.pass(requestState) }
}

/** What the server says beside its tools is for those who may use any of them. */
async function isOpenTo(client: ClientSession, line: ServerLine): Promise<boolean> {
  const offered = await reached(line.tools())
  return offered.length === 0 || offered.some(({ name }) => client.has(name, false))
}

/** What of a request goes on beside what the method takes. What is between the client and us stays here. */
function toParams({ greeting, server, era }: Bare, context: ServerContext): JsonObject {
  const { _meta, inputResponses } = context.mcpReq
  const own = ([key]: [string, unknown]): boolean =>
    key !== 'progressToken' && !isOwnMeta(key) && !key.startsWith('io.modelcontextprotocol/')
  const kept = Object.entries(_meta ?? {}).filter(own)
  const level: unknown = Object(context.mcpReq.envelope)[LOG_LEVEL_META_KEY]
  const meta: Record<string, unknown> = {
    ...Object.fromEntries(kept),
    ...(greeting.era === 'modern' && {
      [CLIENT_CAPABILITIES_META_KEY]: declaredBy({ server, context, era }),
      ...(level !== undefined && { [LOG_LEVEL_META_KEY]: level }),
    }),
  }
  // Each message is parsed JSON.
  return {
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
    ...(inputResponses !== undefined && { inputResponses }),
  } as JsonObject
}

function throwServerError({ error }: ToolResult): void {
  const found = error && findServerError(error)
  if (found !== undefined) throw ProtocolError.fromError(found.code, found.message, found.data)
}

/** A refusal of the server is passed on as one. */
async function reached<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error
    const found = findServerError(error)
    if (found !== undefined) throw ProtocolError.fromError(found.code, found.message, found.data)
    throw new ProtocolError(ProtocolErrorCode.InternalError, error.message, { reason: error.reason })
  }
}

const anything: StandardSchemaV1<JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'handrail',
    // Each message is parsed JSON.
    validate: (value) =>
      isPlainObject(value) ? { value: value as JsonObject } : { issues: [{ message: 'is no object' }] },
  },
}
