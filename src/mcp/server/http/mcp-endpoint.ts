import type { IncomingMessage, ServerResponse } from 'node:http'
import { classifyInboundRequest, isJsonContentType, parseJSONRPCMessage } from '@modelcontextprotocol/server'
import type { Caller, AuthenticatedRequest } from '../callers/caller.ts'
import type { ConnectionOptions } from './connections.ts'
import { withinMs } from '../../../kit/time/within-ms.ts'
import { createLegacyEndpoint } from './legacy-endpoint.ts'
import { createModernEndpoint } from './modern-endpoint.ts'
import { readBody } from '../web/read-body.ts'
import { closing, refuse, type Refusal } from '../web/send-json.ts'

/** How long the answers of aborted calls may take to reach their clients. */
const flushMs = 500

/** The MCP endpoint of an HTTP server: checks what is posted and hands it to the era that it belongs to. */
export function createMcpEndpoint(options: ConnectionOptions & { maxBodyBytes: number }) {
  const { maxBodyBytes } = options
  const legacy = createLegacyEndpoint(options)
  const modern = createModernEndpoint(options)
  const running = new Set<ServerResponse>()
  let isClosing = false

  async function post(visit: AuthenticatedRequest): Promise<void> {
    const { request, response } = visit
    const unfit = checkMediaTypes(request)
    if (unfit !== undefined) return refuse(response, unfit)
    const text = await readBody(request, maxBodyBytes)
    if (text === undefined)
      return refuse(response, {
        status: 413,
        message: `The body is larger than ${maxBodyBytes} bytes. Send less at a time.`,
        headers: { connection: 'close' },
      })
    const body = parse(text)
    if (body === undefined)
      return refuse(response, {
        status: 400,
        code: -32700,
        message: 'Parse error: the body is not valid JSON.',
      })
    if (response.destroyed) return
    running.add(response)
    response.once('close', () => running.delete(response))
    await dispatch(body.value, visit)
  }

  function dispatch(body: unknown, visit: AuthenticatedRequest): void | Promise<void> {
    const { request, response } = visit
    const outcome = classifyInboundRequest({
      httpMethod: 'POST',
      body,
      ...header('protocolVersionHeader', request.headers['mcp-protocol-version']),
      ...header('mcpMethodHeader', request.headers['mcp-method']),
      ...header('mcpNameHeader', request.headers['mcp-name']),
    })
    switch (outcome.kind) {
      case 'reject': {
        const { httpStatus: status, code, message, data } = outcome
        return refuse(response, { status, code, message, data, id: idOf(body) })
      }
      case 'modern':
        return modern.post(outcome, visit)
      case 'legacy':
        if (outcome.reason !== 'batch') return legacy.post(parseJSONRPCMessage(body), visit)
        return refuse(response, {
          status: 400,
          code: -32600,
          message: 'Batches are not served. Send one message a request.',
        })
    }
  }

  /** The calls of requests may become tasks, so these are looked at when those have ended. */
  async function allEnded(): Promise<void> {
    await allClosed(running)
    await Promise.all([legacy.tasksEnded(), modern.tasksEnded()])
  }

  return {
    async serve(visit: AuthenticatedRequest): Promise<void> {
      const { request, response } = visit
      if (isClosing) return refuse(response, closing)
      if (request.method === 'POST') return post(visit)
      if (request.method === 'GET') return legacy.listen(visit)
      if (request.method === 'DELETE') return legacy.remove(visit)
      refuse(response, {
        status: 405,
        message: `The method ${request.method ?? ''} is not served; use POST.`,
        headers: { allow: 'GET, POST, DELETE' },
      })
    },
    /** Ends the sessions of callers that this does not hold for. */
    retain(isWelcome: (caller: Caller) => boolean): void {
      legacy.retain(isWelcome)
      modern.retain(isWelcome)
    },
    /** Takes no more requests, lets running calls end for a while, aborts the rest. */
    async close(graceMs: number): Promise<void> {
      isClosing = true
      modern.endListening()
      await withinMs(allEnded(), graceMs)
      await Promise.all([legacy.close(), modern.close()])
      await withinMs(allClosed(running), flushMs)
    },
  }
}

/** Answers come as JSON or as a stream. A page of another origin cannot send JSON without being asked first. */
function checkMediaTypes({ headers }: IncomingMessage): Refusal | undefined {
  if (!isJsonContentType(headers['content-type'] ?? null))
    return { status: 415, message: 'The Content-Type must be application/json.' }
  const accept = headers.accept ?? '*/*'
  const takes = (type: string): boolean => accept.includes(type) || accept.includes('*/*')
  if (takes('application/json') && takes('text/event-stream')) return undefined
  return { status: 406, message: 'The Accept header must list application/json and text/event-stream.' }
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

function header<Name extends string>(name: Name, value: string | string[] | undefined) {
  return typeof value === 'string' ? ({ [name]: value } as { [name in Name]: string }) : undefined
}

function idOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'id' in body && 'method' in body ? body.id : undefined
}

async function allClosed(responses: ReadonlySet<ServerResponse>): Promise<void> {
  await Promise.all(
    [...responses].map((response) => new Promise<void>((resolve) => response.once('close', resolve))),
  )
}
