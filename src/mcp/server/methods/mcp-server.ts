import {
  SUPPORTED_PROTOCOL_VERSIONS,
  isInputRequiredResult,
  type CallToolRequest,
  type CallToolResult,
  type Server,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server'
import type { ToolResult } from '../../../contract/base/result.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import {
  createCallDispatcher,
  declaredBy,
  type CallDispatcher,
  type Era,
  type Patience,
} from '../calls/call-dispatcher.ts'
import type { CallContext } from '../calls/call-context.ts'
import { createPlainCalls } from '../calls/plain-calls.ts'
import { serveListen } from './serve-listen.ts'
import { notifyChanges } from './notify-changes.ts'
import { presentResult } from './present-result.ts'
import type { ClientSession } from '../session/client-session.ts'
import { guarded } from '../calls/guarded.ts'
import type { OpenCall } from '../calls/open-call.ts'
import { packageVersion } from '../session/package-version.ts'
import { readingTools } from '../session/reading-tools.ts'
import { serveResources } from './serve-resources.ts'
import type { ClientTasks } from '../tasks/client-tasks.ts'
import { legacyTaskCapability, serveLegacyTasks, type LegacyTasks } from '../tasks/legacy-tasks.ts'
import { listFormOf } from '../session/list-form-of.ts'
import { serveModernTasks, takesTasks, tasksExtension, toModernTask } from '../tasks/modern-tasks.ts'
import { TaskServer } from '../session/task-server.ts'

/** The revision without handshake and sessions, where each request stands alone. */
export const modernRevision = '2026-07-28'

/** Where a call's idempotency key stands in the `_meta` of `tools/call`. */
const keyMetaKey = 'handrail/idempotency_key'
/** Where the id of a standing consent stands there. */
const consentMetaKey = 'handrail/consent'
/** A call that runs longer becomes a task, where a stateless client takes tasks. */
const patienceMs = 500

/** What SDK servers stand on that show all tools. */
export interface McpServerOptions {
  readonly client: ClientSession
  /** Those of the client. */
  readonly tasks: ClientTasks
  readonly log: (line: string) => void
}

/**
 * Builds SDK servers for one client session: one for a connection, or one for each request where requests stand
 * alone. They are cheap (about 10 µs): handlers only, no schemas, as inputs are checked in the pipeline.
 */
export function createMcpServers({ client, tasks, log }: McpServerOptions): (era: Era) => Server {
  const info = { name: 'handrail', title: 'Handrail', version: packageVersion() }
  const supportedProtocolVersions = [...SUPPORTED_PROTOCOL_VERSIONS, modernRevision]
  const dispatcher = createCallDispatcher(log)

  return (era) => {
    const server = new TaskServer(info, {
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true },
        ...(era === 'legacy' ? { tasks: legacyTaskCapability } : { extensions: { [tasksExtension]: {} } }),
      },
      supportedProtocolVersions,
      requestState: { verify: (state, context) => dispatcher.requestStates.verify(state, context) },
    })
    server.onerror = (error) => log(`mcp: ${error.message}`)
    let stopNotifying: (() => void) | undefined
    // However often a client says that it is ready.
    if (era === 'legacy')
      server.oninitialized = () => (stopNotifying ??= notifyChanges(server, client.changes, log))
    else serveListen(server, { client, tasks, log })
    serveResources({ server, era, client, dispatcher, onePage, log })
    const legacyTasks =
      era === 'legacy' ? serveLegacyTasks({ server, tasks, everyTask: onePage, log }) : undefined
    if (era === 'modern') serveModernTasks(server, tasks, log)

    server.setRequestHandler('tools/list', { params: onePage }, () =>
      guarded(log, async () => {
        await client.settled()
        return { tools: client.list(listFormOf(server)) }
      }),
    )
    const serveCall = createCallService({ client, tasks, dispatcher, server, era, legacyTasks, log })
    server.setRequestHandler('tools/call', (request, context) => serveCall(request, context))
    if (era === 'legacy')
      server.plainCalls = createPlainCalls({
        server,
        serve: serveCall,
        check: (call, result) => server.checkResult(call, result),
        log,
      })
    return server
  }
}

interface CallService extends McpServerOptions {
  readonly dispatcher: CallDispatcher
  readonly server: Server
  readonly era: Era
  readonly legacyTasks: LegacyTasks | undefined
}

/** What answers a `tools/call`, read by the SDK or not. */
function createCallService({ client, tasks, dispatcher, server, era, legacyTasks, log }: CallService) {
  const untilTask: Patience = { ms: patienceMs, mayRunOn: () => tasks.hasRoom() }
  const toResult = (result: ToolResult, call: OpenCall): CallToolResult => present(result, call, client)

  return (request: Pick<CallToolRequest, 'params'>, context: CallContext) =>
    guarded(log, async () => {
      const { params } = request
      const capabilities = declaredBy({ server, context, era })
      const finding = client.find(params.name)
      if (finding !== undefined) await finding
      const patience = era === 'modern' && takesTasks(capabilities) ? untilTask : undefined
      // A task is over when the work is.
      const follow = patience !== undefined || (legacyTasks !== undefined && params.task !== undefined)
      const begin = () => client.begin({ ...toAskedCall(params), capabilities, follow })
      if (legacyTasks !== undefined && params.task !== undefined)
        return legacyTasks.open(params.task, {
          begin,
          toResult,
          progressToken: params._meta?.progressToken,
        })
      const done = await dispatcher.serve({ request, context, server, era, patience }, begin)
      if (isInputRequiredResult(done)) return done
      if ('result' in done) return toResult(done.result, done.call)
      return toModernTask(tasks.open({ ...done, toResult }))
    })
}

/** The list comes in one piece, so no client has a cursor from here. */
const onePage: StandardSchemaV1<{ cursor?: unknown }> = {
  '~standard': {
    version: 1,
    vendor: 'handrail',
    validate: (value) =>
      isPlainObject(value) && value['cursor'] === undefined
        ? { value: {} }
        : { issues: [{ message: 'there is one page only; send no cursor' }] },
  },
}

/** A call as it came. */
export function toAskedCall({ name, arguments: input, _meta }: CallToolRequest['params']) {
  const key = _meta?.[keyMetaKey]
  const consent = _meta?.[consentMetaKey]
  return {
    name,
    input: input ?? {},
    // A key that is not a text is refused in the pipeline, as a call without its key could run twice.
    idempotencyKey: key as string | undefined,
    consent: typeof consent === 'string' ? consent : undefined,
    trace: typeof _meta?.['traceparent'] === 'string' ? _meta['traceparent'] : undefined,
  }
}

function present(result: ToolResult, { tool }: OpenCall, client: ClientSession): CallToolResult {
  const readable = {
    ...(client.wireNameOf(readingTools.artifacts) !== undefined && { artifactsOf: result.callId }),
    servers: client.wireNameOf(readingTools.servers) !== undefined,
  }
  return presentResult(result, { tool, readable, inWireNames: (text) => client.inWireNames(text) })
}
