import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  SUPPORTED_PROTOCOL_VERSIONS,
  isInitializeRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../contract/base/json.ts'
import { readJsonObject } from '../../../kit/json/is-json-object.ts'
import type { Caller, AuthenticatedRequest } from '../callers/caller.ts'
import { createConnections, type Connection, type ConnectionOptions } from './connections.ts'
import { isRequest } from '../web/message-kinds.ts'
import { refuse, type Refusal } from '../web/send-json.ts'

/** Revisions to 2025-11-25: clients shake hands and get a session, and each session is one of the runtime. */
export function createLegacyEndpoint(options: ConnectionOptions) {
  const connections = createConnections(options)

  async function initialize(
    message: JSONRPCRequest,
    response: ServerResponse,
    caller: Caller,
  ): Promise<void> {
    const opened = await connections.open(caller, capabilitiesOf(message))
    if ('status' in opened) refuse(response, { ...opened, id: message.id })
    else opened.transport.request(message, response)
  }
  /** The connection a request names, or what is wrong with the request. */
  function find({ headers }: IncomingMessage, caller: Caller): Connection | Refusal {
    const id = headers['mcp-session-id']
    if (typeof id !== 'string') return noSession
    const version = headers['mcp-protocol-version'] ?? ''
    if (version !== '' && !SUPPORTED_PROTOCOL_VERSIONS.includes(String(version))) return unknownVersion
    return connections.find(id, caller) ?? endedSession
  }

  return {
    async post(message: JSONRPCMessage, { request, response, caller }: AuthenticatedRequest): Promise<void> {
      const asks = isRequest(message)
      if (asks && message.method === 'initialize' && isInitializeRequest(message))
        return initialize(message, response, caller)
      const found = find(request, caller)
      if ('status' in found) return refuse(response, found)
      if (!asks) {
        found.transport.receive(message)
        response.writeHead(202).end()
      } else if (!found.transport.request(message, response)) refuse(response, { ...idInUse, id: message.id })
    },
    /** Opens the stream for what belongs to no request. */
    listen({ request, response, caller }: AuthenticatedRequest): void {
      const found = find(request, caller)
      if ('status' in found) refuse(response, found)
      else if (found.transport.listening) refuse(response, streamOpen)
      else found.transport.listen(response)
    },
    /** Ends a session. */
    async remove({ request, response, caller }: AuthenticatedRequest): Promise<void> {
      const found = find(request, caller)
      if ('status' in found) return refuse(response, found)
      await connections.end(found)
      response.writeHead(200).end()
    },
    /** Ends the sessions of callers that this does not hold for. */
    retain: (isWelcome: (caller: Caller) => boolean): void => connections.retain(isWelcome),
    /** Resolves when no task runs. */
    tasksEnded: () => connections.tasksEnded(),
    /** Ends every session; what runs is aborted and answered. */
    close: () => connections.close(),
  }
}

/** What a client says that it can do when it shakes hands. */
function capabilitiesOf({ params }: JSONRPCRequest): JsonObject {
  return readJsonObject(params?.['capabilities'])
}

const noSession: Refusal = {
  status: 400,
  message: 'The header Mcp-Session-Id is missing. Send initialize first.',
}
const endedSession: Refusal = {
  status: 404,
  code: -32001,
  message: 'There is no such session, or it has ended. Send initialize again.',
}
const unknownVersion: Refusal = {
  status: 400,
  message: `The MCP-Protocol-Version is not supported; these are: ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`,
}
const idInUse: Refusal = {
  status: 400,
  code: -32600,
  message: 'A request with this id is running in the session. Use a new id.',
}
const streamOpen: Refusal = {
  status: 409,
  message: 'The session has an open stream already; only one is allowed.',
}
