import type { IncomingMessage, ServerResponse } from 'node:http'
import { takesRecords } from '../../../kit/takes-records.ts'
import type { Gate } from '../callers/open-gate.ts'
import type { ServedRuntime } from '../session/client-session.ts'
import { packageVersion } from '../session/package-version.ts'
import { refuse, sendJson, sendText, type Refusal } from '../web/send-json.ts'

export interface PageOptions extends Pick<ServedRuntime, 'runtime'> {
  /** What `/metrics` shows. Default: `/metrics` does not exist. */
  readonly metrics?: { readonly contentType: string; text(): string }
  readonly gate: Gate
  readonly isClosing: boolean
}

interface PageRequest {
  readonly path: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Serves what is not MCP: the status, the metrics, and where tokens come from. */
export async function servePage(
  { path, request, response }: PageRequest,
  options: PageOptions,
): Promise<void> {
  const { gate } = options
  const metrics = path === '/metrics' ? options.metrics : undefined
  const resource = path === gate.resourceMetadata?.path ? gate.resourceMetadata : undefined
  if (path !== '/' && path !== '/healthz' && metrics === undefined && resource === undefined)
    return sendJson(response, { error: 'There is nothing here; MCP is at /mcp.' }, { status: 404 })
  if (request.method !== 'GET') {
    const error = 'Only GET is answered here.'
    return sendJson(response, { error }, { status: 405, headers: { allow: 'GET' } })
  }
  if (resource !== undefined) return sendJson(response, resource.document)
  if (metrics !== undefined) {
    const caller = await gate.admit(request, response)
    if (caller === undefined) return
    if (caller.readsMetrics !== true) return refuse(response, notForMetrics)
    return sendText(response, metrics.text(), metrics.contentType)
  }
  const health = describeHealth(options)
  if (path === '/healthz') return sendJson(response, health, { status: health.status === 'ok' ? 200 : 503 })
  sendJson(response, { name: 'handrail', version: packageVersion(), status: health.status, mcp: '/mcp' })
}

/** Without a store that takes records, no call runs that has to be recorded. */
function describeHealth({ isClosing, runtime }: PageOptions): { status: string; reason?: string } {
  if (isClosing) return { status: 'closing' }
  const { store } = runtime
  if (takesRecords(store)) return { status: 'ok' }
  const why = store.trouble === undefined ? '' : `: ${store.trouble}`
  return { status: 'unavailable', reason: `The store takes no records${why}.` }
}

const notForMetrics: Refusal = {
  status: 403,
  message:
    'This caller may not read the metrics of all tenants. Use a token that may: "handrail token prometheus --metrics --write" makes one.',
}
