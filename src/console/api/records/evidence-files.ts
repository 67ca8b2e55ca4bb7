import { everyTenant } from '../../../contract/mcp/console-login.ts'
import { endpoint, type Asked, type Endpoint } from '../../base/endpoint.ts'
import { ofTenantOrAll, readCount } from '../../base/read-query.ts'
import { mayDo } from '../../base/roles.ts'

const longest = 3_650
/** Characters that are sent at a time. */
const atOnce = 65_536

const preview = endpoint({
  method: 'GET',
  path: '/api/evidence/prune',
  summary: 'How many inputs and results `handrail evidence prune` would remove. Nothing goes.',
  role: 'viewer',
  reach: 'each',
  query: { days: `Older than so many days, up to ${longest}. Default: 30.` },
  answer: {
    type: 'object',
    properties: {
      before: { type: 'integer', description: 'In milliseconds since the epoch.' },
      tenants: {
        type: 'array',
        items: {
          type: 'object',
          properties: { tenant: { type: 'string' }, bodies: { type: 'integer' } },
          required: ['tenant', 'bodies'],
        },
        description: 'Those that would lose some.',
      },
    },
    required: ['before', 'tenants'],
  },
  async run({ visitor, query, tenants, parts }) {
    const days = readCount(query, { name: 'days', usual: 30, most: longest })
    if (days instanceof Response) return days
    const before = Date.now() - days * 86_400_000
    const which = mayDo(visitor, 'viewer', everyTenant) ? [undefined] : tenants
    const found = await Promise.all(which.map((tenant) => parts.verifier.prunable(tenant, before)))
    return { before, tenants: found.flat() }
  },
})

const download = endpoint({
  method: 'GET',
  path: '/api/evidence/export',
  summary:
    'The export of what you see, as `handrail evidence export` writes it: JSON lines, with inputs and results. The evidence says who took it.',
  role: 'operator',
  reach: ofTenantOrAll('operator'),
  query: { session: 'Only what proves this session.', tenant: 'Of this tenant alone.' },
  answer: { type: 'object', description: 'A line of application/jsonl.' },
  async run(asked) {
    const { query, parts } = asked
    const [reached] = asked.tenants
    const tenant = reached === everyTenant ? undefined : reached
    const session = query.get('session')
    const about = { ...(tenant !== undefined && { tenant }), ...(session && { session }) }
    await noteExport(asked, about)
    return stream(parts.exportLines(about))
  },
})

/** In the chain of each tenant whose records are in it. */
async function noteExport(
  { visitor: { actor }, parts: { runtime } }: Asked,
  { tenant, session }: { tenant?: string; session?: string },
): Promise<void> {
  const tenants = tenant === undefined ? runtime.store.tenants() : [tenant]
  const what = session === undefined ? 'All records were' : `What proves the session ${session} was`
  await runtime.store.append(
    tenants.map((name) => ({
      record: {
        kind: 'note',
        event: 'evidence_exported',
        tenant: name,
        session: '',
        at: Date.now(),
        message: `${what} exported through the console.`,
        actor,
      },
      body: null,
    })),
  )
}

/** Sends lines as they are asked for, so that none waits in memory. */
function stream(lines: Iterable<string>): Response {
  const encoder = new TextEncoder()
  const left = lines[Symbol.iterator]()
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      let text = ''
      while (text.length < atOnce) {
        const { value, done } = left.next()
        if (done === true) break
        text += value
      }
      if (text === '') controller.close()
      else controller.enqueue(encoder.encode(text))
    },
    cancel() {
      left.return?.()
    },
  })
  return new Response(body, {
    headers: {
      'content-type': 'application/jsonl',
      'content-disposition': 'attachment; filename="evidence.jsonl"',
      'cache-control': 'no-store',
    },
  })
}

export const evidenceFileEndpoints: readonly Endpoint[] = [preview, download]
