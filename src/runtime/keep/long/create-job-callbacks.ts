import type { Json } from '../../../contract/base/json.ts'
import type { Document } from '../../../contract/documents.ts'
import type { Store } from '../../../contract/store.ts'
import { verifySignature } from '../../../kit/approvals/verify-webhook.ts'
import { parseJson } from '../../../kit/json/parse-json.ts'
import { isDocumentChanged } from '../../../kit/result/is-document-changed.ts'
import { isJsonObject } from '../../../kit/json/is-json-object.ts'
import type { GrowingRedactor } from '../../../kit/secrets/growing-redactor.ts'
import type { JobCallbacks, JobOf, PostedCallback } from '../../state/job-callbacks.ts'
import { readJob, type StoredJob } from './stored-job.ts'

/** Takes what is posted to the callbacks of jobs. */
export interface ReceivingCallbacks extends JobCallbacks {
  /** Answers a request to a callback: 204 if it is taken, 4xx if it is not to be believed. */
  receive(request: Request): Promise<Response>
}

export interface CallbackSurroundings {
  readonly store: Store
  readonly redactor: GrowingRedactor
  /** Where callbacks reach this host from outside; undefined if they do not. */
  readonly url: string | undefined
  readonly now: () => number
}

/** Bytes of what is posted. */
const mostBytes = 64 * 1024
/** So many wait for one job. */
const mostWaiting = 100

/** The callbacks of the jobs in a store. What is posted is kept, so that the process that follows the job has it, whichever that is. */
export function createJobCallbacks({ store, redactor, url, now }: CallbackSurroundings): ReceivingCallbacks {
  const listeners = new Map<string, () => void>()
  const secretOf = (job: JobOf): string =>
    `whsec_${Buffer.from(store.digest(`callback of ${nameOf(job)}`), 'base64url').toString('base64')}`
  return {
    of: (job) =>
      url === undefined
        ? undefined
        : { url: `${url.replace(/\/$/, '')}/${nameOf(job)}`, secret: secretOf(job) },
    hide(job) {
      if (url === undefined) return () => {}
      const secret = secretOf(job)
      const about = `callback of ${nameOf(job)}`
      redactor.hide(about, [secret, secret.slice('whsec_'.length)])
      return () => redactor.forget(about)
    },
    posted: ({ tenant, job }) => store.documents({ tenant, kind: 'job_callback', group: job }).map(toPosted),
    listen(job, onPosted) {
      listeners.set(nameOf(job), onPosted)
      return () => void listeners.delete(nameOf(job))
    },
    async receive(request) {
      if (request.method !== 'POST') return refuse(405, 'A callback is posted.')
      const of = readPath(new URL(request.url).pathname)
      const body = await readBody(request)
      if (body === undefined) return refuse(413, `A callback has ${mostBytes} bytes at most.`)
      const verified = verifySignature({ secret: secretOf(of), headers: request.headers, body, now: now() })
      // Without the secret, a job that is not there looks like one that is.
      if (!verified.ok) return refuse(400, verified.issue)
      const { tenant, job } = of
      const found = findJob(of, store)
      if (found === undefined || found.phase === 'ended') return refuse(410, 'The job has ended.')
      const payload = readPayload(body)
      if (payload === undefined) return refuse(400, 'Its body is not JSON.')
      const waiting = store.documents({ tenant, kind: 'job_callback', group: job })
      if (waiting.length >= mostWaiting) return refuse(429, 'Too many callbacks of this job wait.')
      await keep({ tenant, job, id: verified.id, payload: redactor.json(payload), at: now() }, store)
      listeners.get(nameOf(of))?.()
      return new Response(null, { status: 204 })
    },
  }
}

function toPosted({ value, ...document }: Document): PostedCallback {
  const payload = isJsonObject(value) ? (value['payload'] ?? null) : null
  return { payload, taken: { ...document, value: undefined } }
}

/** The sender tries again until it is taken: the same id is kept once. In the order in which they came. */
async function keep(
  { tenant, job, id, payload, at }: { tenant: string; job: string; id: string; payload: Json; at: number },
  store: Store,
): Promise<void> {
  const document = {
    tenant,
    kind: 'job_callback' as const,
    group: job,
    id: `${String(at).padStart(15, '0')} ${id}`,
  }
  const known = store.documents({ tenant, kind: 'job_callback', group: job })
  if (known.some((each) => each.id.endsWith(` ${id}`))) return
  try {
    await store.append([], { documents: [{ ...document, value: { payload }, was: null }] })
  } catch (error) {
    if (!isDocumentChanged(error)) throw error
  }
}

/** Names a job among those of all tenants: the end of the path of its callback. */
function nameOf({ tenant, job }: JobOf): string {
  return `${encodeURIComponent(tenant)}/${job}`
}

/** The job that a path names. One that no callback has names none. */
function readPath(path: string): JobOf {
  const [tenant = '', job = ''] = path.split('/').slice(-2)
  try {
    return { tenant: decodeURIComponent(tenant), job }
  } catch {
    return { tenant: '', job: '' }
  }
}

/** Looks at the jobs of its tenant alone. */
function findJob({ tenant, job }: JobOf, store: Store): StoredJob | undefined {
  const found = store.documents({ tenant, kind: 'job' }).find(({ id }) => id === job)
  return found && readJob(found.value)[0]
}

async function readBody(request: Request): Promise<string | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > mostBytes) return undefined
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length
    if (bytes > mostBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function readPayload(body: string): Json | undefined {
  try {
    return body === '' ? null : parseJson(body)
  } catch {
    return undefined
  }
}

function refuse(status: number, message: string): Response {
  return Response.json({ error: message }, { status })
}
