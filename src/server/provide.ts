import type { ServerContext } from '@modelcontextprotocol/server'
import type { Json, JsonObject } from '../contract/json.ts'
import { isPlainObject } from '../kit/is-plain-object.ts'
import { takesForms } from './call-desk.ts'
import type { ClientRequest, Needs } from './open-call.ts'

/** A call that goes over the line of a front, as the server at the other end can reach its client. */
export interface Passenger {
  readonly context: ServerContext
  readonly capabilities: JsonObject
  provide(requests: Needs['requests'], signal: AbortSignal): Promise<JsonObject>
}

/** What a server asks of the client of a call. */
export interface Demand {
  /** As the operator named it. */
  readonly server: string
  /** By the server's own keys. */
  readonly requests: JsonObject
  readonly signal: AbortSignal
}

/** Gets from the client what it can give; the rest is declined. */
export async function provide(
  passenger: Passenger,
  { server, requests, signal }: Demand,
): Promise<JsonObject> {
  const given: JsonObject = {}
  const open: { [key: string]: ClientRequest } = {}
  for (const [key, raw] of Object.entries(requests)) {
    const request = readRequest(raw, server)
    if (request !== undefined && canGive(passenger.capabilities, request)) open[key] = request
    else if (request?.method === 'elicitation/create') given[key] = { action: 'decline' }
    else if (request?.method === 'roots/list') given[key] = { roots: [] }
    else
      throw new Error(
        `It asked for "${request?.method ?? 'something unknown'}", which the client does not do.`,
      )
  }
  if (Object.keys(open).length === 0) return given
  return { ...given, ...(await passenger.provide(open, signal)) }
}

/** A question of a server says whose it is. */
function readRequest(raw: unknown, server: string): ClientRequest | undefined {
  if (!isPlainObject(raw)) return undefined
  const { method } = raw
  // Whoever reads messages reads JSON.
  const params = (raw['params'] ?? {}) as JsonObject
  if (method === 'sampling/createMessage' || method === 'roots/list') return { method, params }
  if (method !== 'elicitation/create') return undefined
  return {
    method,
    params: { ...params, message: `The MCP server "${server}" asks: ${textOf(params['message'])}` },
  }
}

function canGive(capabilities: JsonObject, { method, params }: ClientRequest): boolean {
  if (method === 'sampling/createMessage') return capabilities['sampling'] !== undefined
  if (method === 'roots/list') return capabilities['roots'] !== undefined
  if (params['mode'] === 'url')
    return isPlainObject(capabilities['elicitation']) && 'url' in capabilities['elicitation']
  return takesForms(capabilities)
}

function textOf(message: Json | undefined): string {
  return typeof message === 'string' ? message : ''
}
