import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Endpoint, EndpointAnswer } from '../../../contract/a2a/endpoint.ts'
import { messageOf } from '../../../kit/text/message-of.ts'
import type { Gate } from '../callers/open-gate.ts'
import { readBody } from '../web/read-body.ts'
import { refuse, sendJson, type Refusal } from '../web/send-json.ts'

/** Hands a request to the room that answers its path, and the answer back. */
export async function answerEndpoint(
  endpoint: Endpoint,
  { path, request, response }: { path: string; request: IncomingMessage; response: ServerResponse },
  { gate, maxBodyBytes }: { gate?: Pick<Gate, 'enter'>; maxBodyBytes: number },
): Promise<void> {
  const answer = await endpoint.answer({
    method: request.method ?? '',
    path,
    authorization: request.headers.authorization,
    body: () => readBody(request, maxBodyBytes),
    enter(caller) {
      const refused = gate?.enter(caller, response)
      return refused && toAnswer(refused)
    },
  })
  const { status, body = {}, headers } = answer
  sendJson(response, body, { status, headers: { 'cache-control': 'no-store', ...headers } })
}

function toAnswer({ status, message, headers }: Refusal): EndpointAnswer {
  const body = { jsonrpc: '2.0', id: null, error: { code: -32000, message } }
  return { status, body, ...(headers !== undefined && { headers }) }
}

/** Answers one request of an HTTP server of Node, and never rejects. False, and nothing is answered, for a path of others. */
export type HandleEndpoint = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>

/** The same for a program's own HTTP server, where the path `own` is the one that the endpoint knows under another name. */
export function createEndpointHandler(
  endpoint: Endpoint,
  about: { own: string; as: string; maxBodyBytes: number; log: (line: string) => void },
): HandleEndpoint {
  const { own, as, maxBodyBytes, log } = about
  return async (request, response) => {
    const [asked = '/'] = (request.url ?? '/').split('?', 1)
    const path = asked === own ? as : asked
    if (!endpoint.serves(path)) return false
    try {
      await answerEndpoint(endpoint, { path, request, response }, { maxBodyBytes })
    } catch (error) {
      log(`a2a: ${messageOf(error)}`)
      const message = 'Handrail failed on this request; its log has the cause.'
      refuse(response, { status: 500, code: -32603, message })
    }
    return true
  }
}
