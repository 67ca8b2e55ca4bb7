import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Site, SiteCaller } from '../../../contract/mcp/site.ts'
import type { Caller } from '../callers/caller.ts'
import type { Gate } from '../callers/open-gate.ts'
import { sendFetchResponse, toFetchRequest } from '../web/fetch-exchange.ts'
import { refuseAsProblem } from '../web/send-json.ts'

/** Of a change that a person or program makes through a site. */
const maxBytes = 1024 * 1024

/** Whether a request was for a site that hangs on this server, and is answered. */
export async function answersSite(
  { site, gate }: { site: Site | undefined; gate: Gate },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  if (site === undefined) return false
  const origin = `http://${request.headers.host ?? 'localhost'}`
  const asked = await toFetchRequest(request, { origin, maxBytes })
  if (asked === undefined) {
    refuseAsProblem(response, { status: 413, message: `A body has at most ${maxBytes} bytes.` })
    return true
  }
  let isAnswered = false
  const answer = await site.answer(asked, async () => {
    const caller = await gate.admit(request, response, refuseAsProblem)
    isAnswered = caller === undefined
    return caller === undefined ? new Response(null, { status: 401 }) : toSiteCaller(caller)
  })
  if (!isAnswered && answer !== undefined) await sendFetchResponse(response, answer)
  return isAnswered || answer !== undefined
}

function toSiteCaller({ isAnybody = false, session, decides }: Caller): SiteCaller {
  return {
    tenant: isAnybody ? undefined : (session.tenant ?? 'local'),
    actor: session.actor ?? 'user',
    decides: decides === true,
  }
}
