import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Json, JsonObject } from '../../../contract/base/json.ts'
import { readJsonObject } from '../../../kit/json/is-json-object.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { plainWords } from '../../../kit/text/plain-words.ts'
import { takesForms } from './call-dispatcher.ts'
import type { ClientRequest, OpenCall } from './open-call.ts'

/** A call whose client can be asked. */
export interface ClientPeer extends Pick<OpenCall, 'sendRequests'> {
  /** What the client says that it can do. */
  readonly capabilities: JsonObject
}

/** What is asked of the client of a call. */
export interface ServerRequests {
  /** Who asks, such as `MCP server "notes"`. */
  readonly from: string
  /** By the asker's own keys. */
  readonly requests: JsonObject
  readonly signal: AbortSignal
}

/** Gets from the client what it can give; the rest is declined. */
export async function sendServerRequests(
  peer: ClientPeer,
  { from, requests, signal }: ServerRequests,
): Promise<JsonObject> {
  const given: JsonObject = {}
  const open: { [key: string]: ClientRequest } = {}
  for (const [key, raw] of Object.entries(requests)) {
    const request = readRequest(raw, from)
    if (request !== undefined && canTake(peer.capabilities, request)) open[key] = request
    else if (request?.method === 'elicitation/create') given[key] = { action: 'decline' }
    else if (request?.method === 'roots/list') given[key] = { roots: [] }
    else
      throw new ToolFailure({
        reason: 'upstream_error',
        message: `The ${from} asked for "${request?.method ?? 'something unknown'}", which the client does not do.`,
      })
  }
  if (Object.keys(open).length === 0) return given
  return { ...given, ...(await peer.sendRequests(open, signal)) }
}

const maxMessage = 4_000

/** A question says whose it is, before anything that the asker says. */
function readRequest(raw: Json, from: string): ClientRequest | undefined {
  if (!isPlainObject(raw)) return undefined
  const { method } = raw
  const params = readJsonObject(raw['params'])
  if (method === 'sampling/createMessage' || method === 'roots/list') return { method, params }
  if (method !== 'elicitation/create') return undefined
  const message = plainWords(textOf(params['message']), maxMessage)
  return { method, params: { ...params, message: `The ${from} asks: ${message}` } }
}

/** Whether a client with these capabilities takes such a request. */
export function canTake(capabilities: JsonObject, { method, params }: ClientRequest): boolean {
  if (method === 'sampling/createMessage') return capabilities['sampling'] !== undefined
  if (method === 'roots/list') return capabilities['roots'] !== undefined
  if (params['mode'] === 'url')
    return isPlainObject(capabilities['elicitation']) && 'url' in capabilities['elicitation']
  return takesForms(capabilities)
}

function textOf(message: Json | undefined): string {
  return typeof message === 'string' ? message : ''
}
