import type { IncomingMessage, ServerResponse } from 'node:http'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Caller } from '../callers/caller.ts'
import { refuse, type Refusal } from '../web/send-json.ts'
import type { Endpoints } from './endpoints.ts'

/** What requests pass on their way to an endpoint, in this order. */
export interface RequestRoad {
  /** Why a request of any caller is refused; undefined for one that may pass. */
  readonly guard: (request: IncomingMessage) => string | undefined
  /** Whether the request was a question of a browser, and is answered. */
  readonly answersPage: (request: IncomingMessage, response: ServerResponse) => boolean
  /** How requests for a path are refused. Default: as JSON-RPC does. */
  readonly refuserOf?: (path: string) => (response: ServerResponse, refusal: Refusal) => void
  /** Whether the request was for something beside MCP, and is answered. Default: none is. */
  readonly answersOther?: (
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ) => Promise<boolean>
  /** The caller of a request that may go on; undefined if the request was refused. */
  readonly admit: (request: IncomingMessage, response: ServerResponse) => Promise<Caller | undefined>
  /** The path that names the endpoint of a request. Default: that of its URL. */
  readonly path?: string
  readonly endpoints: Endpoints
  readonly log: (line: string) => void
}

/** Answers the requests of an HTTP server with MCP. It never rejects: what goes wrong is answered, and told to the log. */
export function answerRequests(road: RequestRoad) {
  const { guard, answersPage, answersOther, admit, endpoints, log, refuserOf = () => refuse } = road
  const pathOf = ({ url = '/' }: IncomingMessage): string => road.path ?? url.split('?', 1)[0] ?? '/'

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refused = guard(request)
    const path = pathOf(request)
    if (refused !== undefined) return refuserOf(path)(response, { status: 403, message: refused })
    if (answersPage(request, response)) return
    if ((await answersOther?.(path, request, response)) === true) return
    const caller = await admit(request, response)
    return caller && endpoints.find(path, caller, response)?.serve({ request, response, caller })
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.on('error', (error) => log(`http: ${error.message}`))
    try {
      await route(request, response)
    } catch (error) {
      if (!request.destroyed || request.complete) refuserOf(pathOf(request))(response, toRefusal(error, log))
    }
  }
}

function toRefusal(error: unknown, log: (line: string) => void): Refusal {
  if (error instanceof ToolFailure)
    return { status: 503, message: error.message, data: { reason: error.reason } }
  log(`http: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  const message = 'Handrail failed on this request; its log has the cause.'
  return { status: 500, code: -32603, message }
}
