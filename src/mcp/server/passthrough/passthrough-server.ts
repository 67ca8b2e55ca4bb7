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
import type { InitializedServer, DirectConnection } from '../../../contract/mcp/direct-connection.ts'
import { isJsonObject, readJsonObject } from '../../../kit/json/is-json-object.ts'
import { isOwnMeta, withoutOwnMeta } from '../../translate/foreign-meta.ts'
import {
  findServerError,
  toPassthroughContents,
  toPassthroughResult,
} from '../../translate/to-passthrough-result.ts'
import { toPassthroughTool } from '../../translate/to-passthrough-tool.ts'
import { sendServerRequests } from '../calls/server-requests.ts'
import type { OpenCall } from '../calls/open-call.ts'
import { createCallDispatcher, declaredBy, type CallDispatcher, type Era } from '../calls/call-dispatcher.ts'
import type { ClientSession } from '../session/client-session.ts'
import { guarded } from '../calls/guarded.ts'
import { modernRevision, toAskedCall } from '../methods/mcp-server.ts'
import type { RequestState } from '../calls/request-states.ts'
import { restoreData } from '../calls/restore-wholes.ts'
import { callTool, toProtocolError } from '../methods/call-tool.ts'
import { packageVersion } from '../session/package-version.ts'

/** What SDK servers that show one server stand on. */
export interface PassthroughServerOptions {
  readonly client: ClientSession
  readonly connection: DirectConnection
  readonly initialized: InitializedServer
  readonly log: (line: string) => void
}

interface Passthrough extends PassthroughServerOptions {
  readonly dispatcher: CallDispatcher
  readonly server: Server
  readonly era: Era
}

/** Builds SDK servers that show one server under its own names: its tools as governed ones, everything else as it stands. */
export function createPassthroughServers(options: PassthroughServerOptions): (era: Era) => Server {
  const { client, connection, initialized, log } = options
  const dispatcher = createCallDispatcher(log)
  return (era) => {
    const capabilities = toShown(initialized, era)
    const server = new Server(
      { name: connection.server, title: connection.server, version: packageVersion() },
      {
        capabilities,
        ...(initialized.instructions !== undefined && { instructions: initialized.instructions }),
        supportedProtocolVersions: [...SUPPORTED_PROTOCOL_VERSIONS, modernRevision],
        requestState: { verify: (state, context) => dispatcher.requestStates.verify(state, context) },
      },
    )
    server.onerror = (error) => log(`mcp: ${error.message}`)
    const passthrough: Passthrough = { ...options, dispatcher, server, era }
    server.setRequestHandler('tools/list', { params: anything }, () =>
      guarded(log, async () => {
        const offered = await reached(connection.tools())
        const allowed = offered.filter(({ name }) => client.has(name))
        return { tools: allowed.map(({ said }) => toPassthroughTool(said)) }
      }),
    )
    server.setRequestHandler('tools/call', (request, context) =>
      guarded(log, () => call(passthrough, request, context)),
    )
    for (const method of passedOn(capabilities))
      server.setRequestHandler(method, { params: anything }, (params, context) =>
        guarded(log, () => pass(passthrough, { method, params }, context)),
      )
    if ('resources' in capabilities)
      server.setRequestHandler('resources/read', ({ params }, context) =>
        guarded(log, () => read(passthrough, params.uri, context)),
      )
    return server
  }
}

/** What of it a client can have from here. Changes are told where there is a session to tell them in. */
function toShown({ era, capabilities }: InitializedServer, shown: Era) {
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
  passthrough: Passthrough,
  request: CallToolRequest,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { client, connection, dispatcher, server, era, log } = passthrough
  const { mcpReq } = context
  const capabilities = declaredBy({ server, context, era })
  const name = connection.canonicalName(request.params.name)
  await untilThere(name, passthrough)
  const done = await dispatcher.serve({ request, context, server, era }, () => {
    const from = `MCP server "${connection.server}"`
    const caller = connection.bindCall({
      params: toParams(passthrough, context),
      sendRequests: (requests, signal) =>
        sendServerRequests({ capabilities, sendRequests: begun.sendRequests }, { from, requests, signal }),
      notify(method, params) {
        mcpReq
          .notify({ method, params })
          .catch((error: unknown) => log(describeUnsent(method, connection.server, error)))
      },
    })
    const begun: OpenCall = client.begin({ ...toAskedCall(request.params), name, capabilities, caller })
    return begun
  })
  if (isInputRequiredResult(done)) return done
  throwServerError(done.result)
  return toPassthroughResult(await restoreData(done.result, (artifact) => client.bytesOf(artifact)))
}

/** A server that is met for the first time may have answered here before its tools are in place. */
async function untilThere(name: string, { client, connection }: Passthrough): Promise<void> {
  if (client.has(name)) return
  await reached(connection.tools())
  // `has` takes the tools of now.
  client.has(name)
}

/** Reads in the one pipeline, as the tool that reads resources: the client's person may be asked. */
async function read(
  passthrough: Passthrough,
  uri: string,
  context: ServerContext,
): Promise<ReadResourceResult | InputRequiredResult> {
  const { client, connection, dispatcher, server, era } = passthrough
  const input = { server: connection.server, uri }
  const done = await callTool(
    { client, dispatcher, server, era, context },
    { tool: 'mcp.read_resource', input },
  )
  if (isInputRequiredResult(done)) return done
  if (!done.ok) throw toProtocolError(done)
  return toPassthroughContents(done)
}

/** As it is, and as it comes back. */
async function pass(
  passthrough: Passthrough,
  { method, params }: { method: string; params: JsonObject },
  context: ServerContext,
): Promise<Result> {
  const { connection, client, dispatcher } = passthrough
  if (!(await isOpenTo(client, connection)))
    throw new ProtocolError(
      ProtocolErrorCode.InvalidRequest,
      `None of the tools of "${connection.server}" is yours.`,
    )
  const state = context.mcpReq.requestState<RequestState>()
  const request: JsonObject = {
    ...params,
    ...toParams(passthrough, context),
    ...(state !== undefined && { requestState: dispatcher.requestStates.unwrap(state) }),
  }
  const answer = withoutOwnMeta(await reached(connection.ask(method, request, context.mcpReq.signal)))
  const { requestState } = answer
  if (typeof requestState !== 'string') return answer
  return { ...answer, requestState: await dispatcher.requestStates.pass(requestState) }
}

/** What the server says beside its tools is for those who may use any of them; for all if it has none. */
async function isOpenTo(client: ClientSession, connection: DirectConnection): Promise<boolean> {
  const offered = await reached(connection.tools())
  return offered.some(({ name }) => client.has(name)) || !(await reached(connection.hasTools()))
}

/** What of a request goes on beside what the method takes. What is between the client and us stays here. */
function toParams({ initialized, server, era }: Passthrough, context: ServerContext): JsonObject {
  const { _meta, inputResponses } = context.mcpReq
  const own = ([key]: [string, unknown]): boolean =>
    key !== 'progressToken' && !isOwnMeta(key) && !key.startsWith('io.modelcontextprotocol/')
  const kept = Object.entries(_meta ?? {}).filter(own)
  const level: unknown = Object(context.mcpReq.envelope)[LOG_LEVEL_META_KEY]
  const meta: Record<string, unknown> = {
    ...Object.fromEntries(kept),
    ...(initialized.era === 'modern' && {
      [CLIENT_CAPABILITIES_META_KEY]: declaredBy({ server, context, era }),
      ...(level !== undefined && { [LOG_LEVEL_META_KEY]: level }),
    }),
  }
  return readJsonObject({
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
    ...(inputResponses !== undefined && { inputResponses }),
  })
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
    validate: (value) => (isJsonObject(value) ? { value } : { issues: [{ message: 'is not an object' }] }),
  },
}

/** For the log: a notification of a server that did not reach the client. */
export function describeUnsent(method: string, server: string, error: unknown): string {
  return `mcp: "${method}" of "${server}" could not be told: ${String(error)}`
}
