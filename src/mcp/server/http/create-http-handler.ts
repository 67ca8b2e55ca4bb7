import type { IncomingMessage, ServerResponse } from 'node:http'
import { createFaultFinder } from '../callers/check-callers.ts'
import { isCaller } from '../callers/caller.ts'
import type { ServeMcpLimits, WhoCalls } from '../callers/who-calls.ts'
import { createOwnCallers } from '../callers/own-callers.ts'
import type { ServedRuntime } from '../session/client-session.ts'
import { createAdmission } from '../web/admission.ts'
import { createCors } from '../web/cors.ts'
import { createGuard } from '../web/http-guard.ts'
import { refuse } from '../web/send-json.ts'
import { answerRequests } from './answer-requests.ts'
import { createEndpoints } from './endpoints.ts'

/** What a program serves at a place of its own HTTP server. */
export interface HandlerOptions extends Omit<ServedRuntime, 'servers' | 'session'>, ServeMcpLimits {
  readonly session: WhoCalls
  readonly allowedHosts?: readonly string[]
  readonly allowedOrigins?: readonly string[]
  readonly log: (line: string) => void
}

/** Serves MCP in both eras, at whatever path the program calls it for. */
export function createHttpHandler(options: HandlerOptions) {
  const { session, allowedHosts, allowedOrigins = [], closeGraceMs = 3_000, log } = options
  const { session: _, ...served } = options
  const endpoints = createEndpoints(served, log)
  const admission = createAdmission(options)
  const identify = createOwnCallers(session, { findFault: createFaultFinder(options.runtime) })
  // Who shows who they are with each request is known, whatever name led there.
  const anyHost = typeof session === 'function' && allowedHosts === undefined
  const handle = answerRequests({
    guard: (request) =>
      createGuard({
        port: request.socket.localPort ?? 0,
        allowedHosts: anyHost ? [request.headers.host ?? ''] : (allowedHosts ?? []),
        allowedOrigins,
      })(request),
    answersPage: createCors(allowedOrigins),
    async admit(request, response) {
      const caller = await identify(request)
      const admitted = isCaller(caller) ? (admission.enter(caller.key, response) ?? caller) : caller
      if (isCaller(admitted)) return admitted
      refuse(response, admitted)
      return undefined
    },
    path: '/mcp',
    endpoints,
    log,
  })
  let closing: Promise<void> | undefined
  return {
    handle: (request: IncomingMessage, response: ServerResponse): Promise<void> => handle(request, response),
    close(): Promise<void> {
      return (closing ??= endpoints.close(closeGraceMs).finally(() => admission.close()))
    },
  }
}
