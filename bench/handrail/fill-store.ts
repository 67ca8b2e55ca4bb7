import type { Store } from 'handrail/store'

const tools = ['code.read_file', 'code.search', 'code.write_file', 'shell.run', 'web.fetch']
const perSession = 20
/** As long as a real one. */
const digest = 'x'.repeat(43)

/** Adds calls of many sessions to a store until its chain has so many records. */
export async function fillStore(store: Store, records: number, tenant: string): Promise<void> {
  for (let made = store.head(tenant)?.sequence ?? 0; made < records; made += 4_000)
    await store.append(Array.from({ length: 2_000 }, (_, index) => callOf(made / 2 + index, tenant)).flat())
}

type Entry = Parameters<Store['append']>[0][number]

function callOf(index: number, tenant: string): Entry[] {
  const about = {
    tenant,
    session: `ses_${String(Math.floor(index / perSession)).padStart(12, '0')}`,
    call: `call_${String(index).padStart(10, '0')}`,
    tool: tools[index % tools.length] ?? 'code.read_file',
  }
  const at = 1_700_000_000_000 + index * 1000
  return [
    {
      record: {
        kind: 'begin',
        ...about,
        actor: `actor_${Math.floor(index / perSession) % 7}`,
        role: 'main',
        origin: 'llm',
        definition: `1.0.0 ${digest}`,
        at,
        input: digest,
        policy: digest,
        writer: 'bench',
        decision: { effect: 'allow', layer: 'defaults', rule: 'Reads run.' },
        plan: digest,
      },
      body: '{"path":"a.txt"}',
    },
    {
      record: {
        kind: 'end',
        ...about,
        at: at + 5,
        outcome: index % 50 === 7 ? 'denied' : 'ok',
        result: digest,
        bytesIn: 17,
        bytesOut: 51,
        durationMs: index % 90,
      },
      body: '{"ok":true,"content":[{"type":"text","text":"Hi"}]}',
    },
  ]
}
