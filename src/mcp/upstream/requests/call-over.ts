import type { RequestOptions } from '@modelcontextprotocol/client'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { CallBinding } from '../../../contract/mcp/direct-connection.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { readJsonObject } from '../../../kit/json/is-json-object.ts'
import { answerAll, type Asker } from '../base/questions.ts'
import type { Connection } from '../connection/open-connection.ts'
import { showPages } from './show-pages.ts'

/** A server that asks more often for one call does not come to an end. */
const maxRounds = 16

/** What a request is sent with. */
export interface Sent {
  readonly method: string
  readonly params: JsonObject
  /** With `allowInputRequired`. */
  readonly options: RequestOptions
  /** What goes with it over a connection of its client's own. */
  readonly binding?: CallBinding | undefined
  readonly server: UpstreamServer
  /** The call that it is sent for. */
  readonly asker: Asker
}

/**
 * A request. The client of a direct connection provides what the server needs before it goes on (2026-07-28). Without one, the person or model
 * that works with the session of the call provides it.
 */
export async function callOver(connection: Pick<Connection, 'request'>, sent: Sent): Promise<JsonObject> {
  const { method, params, options, binding, server } = sent
  let request = { method, params: binding === undefined ? params : { ...params, ...binding.params } }
  for (let round = 0; round < maxRounds; round++) {
    let result: JsonObject
    try {
      result = await connection.request(request, options)
    } catch (error) {
      throw binding === undefined ? await showPages(error, toAsked(sent)) : error
    }
    if (result['resultType'] !== 'input_required') return result
    const { inputRequests, requestState } = result
    const requests = readJsonObject(inputRequests)
    const given = await (binding === undefined
      ? answerAll(requests, toAsked(sent))
      : sent.asker.awaitPerson(() => binding.sendRequests(requests, toAsked(sent).signal)))
    const { inputResponses: _, requestState: __, ...kept } = request.params
    const state = typeof requestState === 'string' && { requestState }
    request = { method, params: { ...kept, inputResponses: given, ...state } }
  }
  throw new ToolFailure({
    reason: 'upstream_error',
    message: `The MCP server "${server.name}" asked ${maxRounds} times for something more and did not come to an end.`,
    data: { server: server.name },
  })
}

/** Whom the server may ask, and for how long. */
function toAsked({ server, asker, options }: Sent) {
  return { server, asker, signal: options.signal ?? new AbortController().signal }
}
