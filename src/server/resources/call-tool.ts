import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../contract/json.ts'
import type { ToolResult } from '../../contract/result.ts'
import { findServerError } from '../../mcp/to-bare-result.ts'
import type { ClientSession } from '../client-session.ts'

/** What is to be called for a request of a client that is no `tools/call`. */
export interface ToolRequest {
  readonly client: ClientSession
  readonly context: ServerContext
  /** Canonical name. */
  readonly tool: string
  readonly input: JsonObject
}

/** A call on the one road. It is aborted with the request. Nobody can be asked: what needs a yes is denied. */
export function callTool({ client, context, tool, input }: ToolRequest): Promise<ToolResult> {
  const call = client.begin({
    name: client.wireNameOf(tool) ?? tool,
    input,
    idempotencyKey: undefined,
    consent: undefined,
    trace: undefined,
    canAsk: false,
    unkept: true,
  })
  call.attach({ signal: context.mcpReq.signal, onProgress: undefined })
  return call.ended
}

const ofTheRequest: ReadonlySet<string> = new Set(['invalid_input', 'unknown_artifact', 'output_too_large'])

/** A failed call as an error of the protocol: the server's own where the call failed by one. */
export function toProtocolError({ error, summary }: ToolResult): ProtocolError {
  if (error === undefined) return new ProtocolError(ProtocolErrorCode.InternalError, summary)
  const { code, reason, message, data } = error
  const found = findServerError(error)
  if (found !== undefined) return ProtocolError.fromError(found.code, found.message, found.data)
  return new ProtocolError(
    ofTheRequest.has(reason) ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InvalidRequest,
    message,
    { ...data, code, reason },
  )
}
