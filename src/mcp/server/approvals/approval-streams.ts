import type { ServerResponse } from 'node:http'
import type { Runtime } from '../../../contract/runtime.ts'
import { trackApprovals } from '../../../kit/approvals/track-approvals.ts'
import type { AuthenticatedRequest } from '../callers/caller.ts'

/** The streams of events about approvals that are open. */
export interface ApprovalStreams {
  /** Begins one, of a tenant or of all. Tells first of what waits already. */
  open(authenticated: AuthenticatedRequest, tenant: string | undefined): void
  /** Ends all of them. */
  end(): void
}

/** Keeps proxies from ending a silent stream; a token that has expired is noticed then at the latest. */
const heartbeatMs = 15_000
/** A client that reads so slowly is cut off, and is told of all that waits when it connects anew. */
const maxUnreadBytes = 4 * 1024 * 1024

/** Server-Sent Events (WHATWG HTML): each is named `approval.<what became of it>`, with the approval as JSON. */
export function createApprovalStreams(runtime: Runtime): ApprovalStreams {
  const responses = new Set<ServerResponse>()
  return {
    open({ response, caller: { expiresAt = Infinity } }, tenant) {
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
      })
      response.flushHeaders()
      const write = (text: string): void => {
        if (Date.now() >= expiresAt) response.end()
        else if (response.writableLength > maxUnreadBytes) response.destroy()
        else if (!response.writableEnded) response.write(text)
      }
      const heartbeat = setInterval(write, heartbeatMs, ': still here\n\n').unref()
      const stop = trackApprovals(runtime, ({ event, approval }) => {
        if (tenant !== undefined && approval.tenant !== tenant) return
        write(`event: approval.${event}\ndata: ${JSON.stringify(approval)}\n\n`)
      })
      responses.add(response)
      response.once('close', () => {
        stop()
        clearInterval(heartbeat)
        responses.delete(response)
      })
    },
    end() {
      for (const response of responses) response.end()
    },
  }
}
