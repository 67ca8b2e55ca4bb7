import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Endpoint } from '../../../contract/a2a/endpoint.ts'
import type { Site } from '../../../contract/mcp/site.ts'
import { isApprovalsPath, type ApprovalsEndpoint } from '../approvals/approvals-endpoint.ts'
import type { Gate } from '../callers/open-gate.ts'
import { closing, refuse, refuseAsProblem } from '../web/send-json.ts'
import { answerEndpoint } from './answer-endpoint.ts'
import type { RequestRoad } from './answer-requests.ts'
import { answersSite } from './answers-site.ts'
import { servePage, type PageOptions } from './serve-page.ts'

/** What there is beside MCP. */
export interface Beside extends Pick<PageOptions, 'runtime' | 'metrics'> {
  readonly gate: Gate
  readonly approvals: ApprovalsEndpoint
  readonly endpoint: Endpoint | undefined
  readonly site?: Site
  /** Of a body. */
  readonly maxBodyBytes: number
  readonly isClosing: () => boolean
}

/** Answers requests for approvals, for paths of other rooms, and for pages. */
export function answerBeside(beside: Beside): NonNullable<RequestRoad['answersOther']> {
  const { gate, approvals, endpoint, site, maxBodyBytes, isClosing } = beside

  async function answerApprovals(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (isClosing()) return refuseAsProblem(response, closing)
    const caller = await gate.admit(request, response, refuseAsProblem)
    if (caller !== undefined) await approvals.serve(path, { request, response, caller })
  }
  return async (path, request, response) => {
    if (path === '/mcp' || path.startsWith('/mcp/')) return false
    if (isApprovalsPath(path)) await answerApprovals(path, request, response)
    else if (endpoint?.serves(path) === true) {
      if (isClosing()) refuse(response, closing)
      else await answerEndpoint(endpoint, { path, request, response }, { gate, maxBodyBytes })
    } else if (isClosing() || !(await answersSite({ site, gate }, request, response)))
      await servePage({ path, request, response }, { ...beside, isClosing: isClosing() })
    return true
  }
}
