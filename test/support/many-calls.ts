import type { BeginRecord, EndRecord } from 'handrail/evidence'
import type { Store } from 'handrail/store'

/** What was done most of the time by whom in a busy place: 20 calls of each session, one of fifty denied. */
const tools = ['code.read_file', 'code.search', 'code.write_file', 'shell.run', 'web.fetch'] as const
const perSession = 20
const digest = 'x'.repeat(43)

/** Records so many calls in a store, the last of them now, each so long after another, by default a second. Returns when the first one began. */
export async function recordManyCalls(
  store: Pick<Store, 'append'>,
  {
    calls,
    until,
    tenant = 'local',
    every = 1000,
  }: { calls: number; until: number; tenant?: string; every?: number },
): Promise<number> {
  const first = until - calls * every
  for (let from = 0; from < calls; from += 2_000) {
    const count = Math.min(2_000, calls - from)
    await store.append(
      Array.from({ length: count }, (_, index) => entriesOf(from + index, { first, tenant, every })).flat(),
    )
  }
  return first
}

function entriesOf(
  index: number,
  { first, tenant, every }: { first: number; tenant: string; every: number },
) {
  const about = {
    tenant,
    session: `ses_${String(Math.floor(index / perSession)).padStart(12, '0')}`,
    call: `call_${tenant}_${String(index).padStart(10, '0')}`,
    tool: tools[index % tools.length] ?? 'code.read_file',
  }
  const begin: BeginRecord = {
    kind: 'begin',
    ...about,
    actor: `actor_${Math.floor(index / perSession) % 7}`,
    role: 'main',
    origin: 'llm',
    definition: `1.0.0 ${digest}`,
    at: first + index * every,
    input: digest,
    policy: digest,
    writer: 'writer_of_many_calls',
    decision: { effect: 'allow', layer: 'defaults', rule: 'Reads run.' },
    plan: digest,
  }
  const end: EndRecord = {
    kind: 'end',
    ...about,
    at: begin.at + 5,
    outcome: index % 50 === 7 ? 'denied' : 'ok',
    result: digest,
    bytesIn: 17,
    bytesOut: 51,
    durationMs: index % 90,
  }
  return [
    { record: begin, body: '{"path":"a.txt"}' },
    { record: end, body: '{"ok":true,"content":[{"type":"text","text":"Hi"}]}' },
  ]
}
