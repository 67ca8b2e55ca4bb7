import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  SUPPORTED_PROTOCOL_VERSIONS,
  classifyInboundRequest,
  parseJSONRPCMessage,
} from '@modelcontextprotocol/server'
import type { Caller, AuthenticatedRequest } from '../callers/caller.ts'
import { isPlainCall } from '../../translate/plain-messages.ts'
import type { ConnectionOptions } from './connections.ts'
import { withinMs } from '../../../kit/time/within-ms.ts'
import { createLegacyEndpoint } from './legacy-endpoint.ts'
import { createModernEndpoint } from './modern-endpoint.ts'
import { readPosted } from './read-posted.ts'
import { closing, refuse } from '../web/send-json.ts'

/** How long the answers of aborted calls may take to reach their clients. */
const flushMs = 500

/** The MCP endpoint of an HTTP server: checks what is posted and hands it to the era that it belongs to. */
export function createMcpEndpoint(options: ConnectionOptions & { maxBodyBytes: number }) {
  const { maxBodyBytes } = options
  const legacy = createLegacyEndpoint(options)
  const modern = createModernEndpoint(options)
  const running = new Set<ServerResponse>()
  let isClosing = false

  async function post(authenticated: AuthenticatedRequest): Promise<void> {
    const { request, response } = authenticated
    const posted = await readPosted(request, maxBodyBytes)
    if ('status' in posted) return refuse(response, posted)
    if (response.destroyed) return
    running.add(response)
    response.once('close', () => running.delete(response))
    await dispatch(posted.body, authenticated)
  }

  function dispatch(body: unknown, authenticated: AuthenticatedRequest): void | Promise<void> {
    const { request, response } = authenticated
    if (isPlainCall(body) && isOfSession(request)) return legacy.post(body, authenticated)
    const outcome = classify(body, request)
    switch (outcome.kind) {
      case 'reject': {
        const { httpStatus: status, code, message, data } = outcome
        return refuse(response, { status, code, message, data, id: idOf(body) })
      }
      case 'modern':
        return modern.post(outcome, authenticated)
      case 'legacy':
        if (outcome.reason !== 'batch') return legacy.post(parseJSONRPCMessage(body), authenticated)
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
    async serve(authenticated: AuthenticatedRequest): Promise<void> {
      const { request, response } = authenticated
      if (isClosing) return refuse(response, closing)
      if (request.method === 'POST') return post(authenticated)
      if (request.method === 'GET') return legacy.listen(authenticated)
      if (request.method === 'DELETE') return legacy.remove(authenticated)
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
    /** Refuses requests, lets running calls end for a while, aborts the rest. */
    async close(graceMs: number): Promise<void> {
      isClosing = true
      modern.endListening()
      await withinMs(allEnded(), graceMs)
      await Promise.all([legacy.close(), modern.close()])
      await withinMs(allClosed(running), flushMs)
    },
  }
}

/** Whether its headers are those of a revision with sessions. */
function isOfSession({ headers }: IncomingMessage): boolean {
  const { 'mcp-protocol-version': revision, 'mcp-method': method, 'mcp-name': name } = headers
  const isKnown = typeof revision === 'string' && SUPPORTED_PROTOCOL_VERSIONS.includes(revision)
  return isKnown && method === undefined && name === undefined
}

function classify(body: unknown, { headers }: IncomingMessage) {
  const revision = headers['mcp-protocol-version']
  const method = headers['mcp-method']
  const name = headers['mcp-name']
  return classifyInboundRequest({
    httpMethod: 'POST',
    body,
    ...(typeof revision === 'string' && { protocolVersionHeader: revision }),
    ...(typeof method === 'string' && { mcpMethodHeader: method }),
    ...(typeof name === 'string' && { mcpNameHeader: name }),
  })
}

function idOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'id' in body && 'method' in body ? body.id : undefined
}

async function allClosed(responses: ReadonlySet<ServerResponse>): Promise<void> {
  await Promise.all(
    [...responses].map((response) => new Promise<void>((resolve) => response.once('close', resolve))),
  )
}
