import {
  ProtocolError,
  ProtocolErrorCode,
  isInputRequiredResult,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { ToolResult } from '../../../contract/base/result.ts'
import { findServerError } from '../../translate/to-passthrough-result.ts'
import { declaredBy, type CallDispatcher, type Era } from '../calls/call-dispatcher.ts'
import type { ClientSession } from '../session/client-session.ts'
import { restoreData, restoreResources } from '../calls/restore-wholes.ts'

/** A request of a client that is not a `tools/call`, and where it came to. */
export interface Asking {
  readonly client: ClientSession
  readonly dispatcher: CallDispatcher
  readonly server: Server
  readonly era: Era
  readonly context: ServerContext
}

/** What is called for it. */
export interface Called {
  /** Canonical name, which is the same before and after the client has been told of names. */
  readonly tool: string
  readonly input: JsonObject
}

/** A call in the one pipeline, that the client's person may be asked about. It is aborted with the request. */
export async function callTool(
  asking: Asking,
  { tool, input }: Called,
): Promise<ToolResult | InputRequiredResult> {
  const { client, dispatcher, ...at } = asking
  const capabilities = declaredBy(at)
  const params = { name: tool, arguments: input }
  const begin = () => client.begin({ ...toAsked(params), capabilities })
  const done = await dispatcher.serve({ ...at, request: { params } }, begin)
  return isInputRequiredResult(done)
    ? done
    : restoreResources(done.result, (artifact) => client.bytesOf(artifact))
}

/** The same, but no person is asked: what needs a yes is denied. */
export async function callQuietly({ client, context }: Asking, { tool, input }: Called): Promise<ToolResult> {
  const params = { name: tool, arguments: input }
  const call = client.begin(toAsked(params))
  call.attach({ signal: context.mcpReq.signal, onProgress: undefined })
  return restoreData(await call.ended, (artifact) => client.bytesOf(artifact))
}

function toAsked({ name, arguments: input }: { name: string; arguments: JsonObject }) {
  const nothing = { idempotencyKey: undefined, consent: undefined, trace: undefined }
  return { name, input, ...nothing, unkept: true }
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
