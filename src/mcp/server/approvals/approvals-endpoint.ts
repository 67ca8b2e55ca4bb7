import type { PendingApproval } from '../../../contract/pending-approval.ts'
import type { Runtime } from '../../../contract/runtime.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import type { AuthenticatedRequest, Caller } from '../callers/caller.ts'
import { readBody } from '../web/read-body.ts'
import { refuseAsProblem, sendJson, type Refusal } from '../web/send-json.ts'
import { createApprovalStreams } from './approval-streams.ts'
import { toRefusal } from './to-refusal.ts'

/** The approvals that wait, for programs and pages of people who decide. */
export interface ApprovalsEndpoint {
  /** Answers `GET /approvals`, `GET /approvals/events`, `GET` and `POST /approvals/<id>`. */
  serve(path: string, authenticated: AuthenticatedRequest): Promise<void>
  /** Ends the streams of events: who still may have one connects anew. */
  endStreams(): void
}

/** Bytes of an answer. */
const maxBodyBytes = 16_384
const states = ['waiting', 'allowed', 'denied', 'expired', 'used', 'all'] as const

/** Whether a path is one of this endpoint. */
export function isApprovalsPath(path: string): boolean {
  return path === '/approvals' || path.startsWith('/approvals/')
}

/** A caller sees and answers what is of its tenant; the user of a machine without tokens, all of it. */
export function createApprovalsEndpoint(runtime: Runtime): ApprovalsEndpoint {
  const streams = createApprovalStreams(runtime)
  return {
    async serve(path, authenticated) {
      const { request, response, caller } = authenticated
      if (caller.decides !== true) return refuseAsProblem(response, caller.decides ?? noApprover)
      const id = path.slice('/approvals/'.length)
      const isPost = request.method === 'POST' && id !== '' && id !== 'events'
      if (request.method !== 'GET' && !isPost)
        return refuseAsProblem(response, {
          status: 405,
          message: `The method ${request.method ?? ''} is not served here.`,
          headers: { allow: id === '' || id === 'events' ? 'GET' : 'GET, POST' },
        })
      if (id === '') return list(runtime, authenticated)
      if (id === 'events') return streams.open(authenticated, tenantOf(caller))
      const approval = findOwn(runtime, id, caller)
      if (approval === undefined) return refuseAsProblem(response, unknown)
      if (isPost) return answer(runtime, approval, authenticated)
      sendJson(response, approval, { headers: unstored })
    },
    endStreams: () => streams.end(),
  }
}

const unstored = { 'cache-control': 'no-store' }

const noApprover: Refusal = { status: 403, message: 'This caller may not answer approvals.' }

const unknown: Refusal = {
  status: 404,
  message: 'There is no such approval: it was over long ago, or never was.',
  data: { code: 'unknown_approval' },
}

/** Undefined for a caller who sees all tenants. */
function tenantOf({ isAnybody = false, session }: Caller): string | undefined {
  return isAnybody ? undefined : (session.tenant ?? 'local')
}

function findOwn({ approvals }: Runtime, id: string, caller: Caller): PendingApproval | undefined {
  const tenant = tenantOf(caller)
  const found = approvals.find(id)
  return tenant === undefined || found?.tenant === tenant ? found : undefined
}

function list({ approvals }: Runtime, { request, response, caller }: AuthenticatedRequest): void {
  const query = new URL(request.url ?? '/', 'http://localhost').searchParams
  const state = states.find((each) => each === (query.get('state') ?? 'waiting'))
  if (state === undefined)
    return refuseAsProblem(response, { status: 400, message: `The state is one of ${states.join(', ')}.` })
  const own = tenantOf(caller)
  const tenant = query.get('tenant') ?? own
  if (own !== undefined && tenant !== own)
    return refuseAsProblem(response, { status: 403, message: 'This caller sees its own tenant only.' })
  const session = query.get('session') ?? undefined
  const found = approvals.list({
    state,
    ...(tenant !== undefined && { tenant }),
    ...(session !== undefined && { session }),
  })
  sendJson(response, { approvals: found }, { headers: unstored })
}

async function answer(
  { approvals }: Runtime,
  { id }: PendingApproval,
  { request, response, caller }: AuthenticatedRequest,
): Promise<void> {
  const body = await readAnswer(request)
  if ('status' in body) return refuseAsProblem(response, body)
  try {
    // The fields are checked there: what is not known is refused, another `by` too.
    const given = { ...body.fields, by: caller.session.actor ?? 'user' }
    const decided = await approvals.decide(id, given as Parameters<typeof approvals.decide>[1])
    sendJson(response, decided, { headers: unstored })
  } catch (error) {
    const refusal = toRefusal(error, approvals.find(id))
    if (refusal === undefined) throw error
    refuseAsProblem(response, refusal)
  }
}

async function readAnswer(
  request: AuthenticatedRequest['request'],
): Promise<{ fields: Record<string, unknown> } | Refusal> {
  // A page of another origin cannot send this type without being asked first.
  if (!/^application\/json *(;|$)/i.test(request.headers['content-type'] ?? ''))
    return { status: 415, message: 'Send the answer as application/json.' }
  const text = await readBody(request, maxBodyBytes)
  if (text === undefined) return { status: 413, message: `An answer has at most ${maxBodyBytes} bytes.` }
  const fields = parse(text)
  if (!isPlainObject(fields))
    return { status: 400, message: 'An answer is a JSON object: { "decision", "reason"?, "digest"? }.' }
  if (Object.hasOwn(fields, 'by'))
    return { status: 400, message: 'An answer has no "by": it is the actor of the token that decides.' }
  return { fields }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
