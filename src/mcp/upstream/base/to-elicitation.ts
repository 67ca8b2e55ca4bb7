import { ToolFailure } from '../../../contract/base/errors.ts'
import type { ElicitationResult, ElicitationRequest } from '../../../contract/base/elicitation.ts'
import type { Json, JsonObject } from '../../../contract/base/json.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'

/** A request of a server, as the protocol has it. */
export interface ServerRequest {
  readonly method: string
  readonly params: JsonObject
}

/** What a request of a server asks; undefined if it asks for nothing that it was offered. */
export function toElicitation(
  { name, sampling }: UpstreamServer,
  { method, params }: ServerRequest,
): ElicitationRequest | undefined {
  const from = `MCP server "${name}"`
  if (method === 'sampling/createMessage') return sampling ? { mode: 'sampling', params, from } : undefined
  if (method !== 'elicitation/create') return undefined
  const message = textOf(params['message']) ?? ''
  if (params['mode'] !== 'url')
    return { mode: 'form', message, schema: toObject(params['requestedSchema']), from }
  const id = textOf(params['elicitationId'])
  return { mode: 'url', message, url: textOf(params['url']) ?? '', from, ...(id !== undefined && { id }) }
}

/** The answer as the server is told it. Throws where it gets no words of a model, for which the protocol has no answer. */
export function toServerAnswer({ mode }: ElicitationRequest, answer: ElicitationResult): JsonObject {
  const content = answer.action === 'accept' ? answer.content : undefined
  if (mode !== 'sampling') return { action: answer.action, ...(content !== undefined && { content }) }
  if (content !== undefined) return content
  throw new RequestRefused(userRejected, 'The words of a model that it asked for were not given.')
}

/** A request of a server that gets no answer: an error of JSON-RPC. */
export class RequestRefused extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }

  /** The same as the end of a call, where the server asked by way of its answer. */
  toFailure(server: string): ToolFailure {
    return new ToolFailure({
      reason: 'upstream_error',
      message: `The call ended because the MCP server "${server}" did not get what it asked for. ${this.message}`,
      data: { server },
    })
  }
}

/** The receiver has no such method (JSON-RPC 2.0). */
export const unknownMethod = -32_601
/** The code that the protocol has for a person who says no to sampling. */
const userRejected = -1

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function toObject(value: Json | undefined): JsonObject {
  return isPlainObject(value) ? value : {}
}
