// Prints how long searches for tools take, and how often they find the right ones, beside SQLite FTS5 on the same tools and queries.
import { existsSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { loadTools } from '../handrail/load.ts'

interface Sample {
  readonly id: string
  readonly name: string
  readonly server?: string
  readonly description: string
  readonly inputSchema: { readonly properties?: Readonly<Record<string, { readonly description?: string }>> }
}

interface Query {
  readonly query: string
  readonly gold: readonly string[]
}

const { createToolIndex } = await loadTools()
const shared = new URL('../../../shared/data/retrieval/', import.meta.url)
const sets = existsSync(shared)
  ? [
      readSet('bfcl', 'bfcl'),
      readSet('stabletoolbench', 'stabletoolbench'),
      readSet('livemcp', 'livemcp-steps'),
    ]
  : [ownSet()]
const all = sets.flatMap((each) => each.tools)
const many = Array.from({ length: 10_000 }, (_, index) => {
  const tool = all[index % all.length] as Sample
  return index < all.length ? tool : { ...tool, name: `${tool.name}_${index}` }
})
const queries = sets.flatMap((each) => each.queries)
const searchMs: number[] = []
const buildMs: number[] = []
// One is made first, so that code and texts that are read once do not count as the index.
createToolIndex(many, toIndexed)
const before = await memory()
const index = createToolIndex(many, toIndexed)
const megabytes = ((await memory()) - before) / 1e6
for (let round = 0; round < 5; round++) {
  const start = performance.now()
  createToolIndex(many, toIndexed)
  buildMs.push(performance.now() - start)
}
for (const { query } of queries) {
  const start = performance.now()
  take(index.search(query))
  searchMs.push(performance.now() - start)
}
const recalls = sets.flatMap(({ set, tools, queries: asked }) => [
  { set: `${set} among its own tools`, ...compare(tools, asked) },
  { set: `${set} among those of all sets`, ...compare(all, asked) },
])
process.stdout.write(JSON.stringify({ searchMs, buildMs, megabytes, recalls }))

async function memory(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.()
    // What buffers held is given back after the collection.
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function toIndexed({ name, server, description, inputSchema }: Sample) {
  return {
    name: server === undefined ? name : `mcp.${server.replaceAll('.', '-')}.${name}`,
    description,
    inputSchema,
  }
}

function take<Found>(found: Iterable<Found>): Found[] {
  const first: Found[] = []
  for (const each of found) if (first.push(each) === 5) break
  return first
}

function compare(tools: readonly Sample[], asked: readonly Query[]): { own: number; fts5: number } {
  const own = createToolIndex(tools, toIndexed)
  const fts5 = openFts5(tools)
  const recall = (find: (query: string) => readonly Sample[]): number => {
    const shares = asked.map(({ query, gold }) => {
      const right = new Set(gold)
      return find(query).filter(({ id }) => right.has(id)).length / right.size
    })
    return shares.reduce((sum, share) => sum + share, 0) / shares.length
  }
  return { own: recall((query) => take(own.search(query))), fts5: recall(fts5) }
}

function openFts5(tools: readonly Sample[]): (query: string) => readonly Sample[] {
  const database = new DatabaseSync(':memory:')
  database.exec(
    `create virtual table tools using fts5(name, server, description, parameters, tokenize='porter')`,
  )
  const insert = database.prepare(
    'insert into tools (rowid, name, server, description, parameters) values (?, ?, ?, ?, ?)',
  )
  for (const [row, { name, server = '', description, inputSchema }] of tools.entries()) {
    const parameters = Object.entries(inputSchema.properties ?? {})
      .flat()
      .map((each) => (typeof each === 'string' ? each : (each.description ?? '')))
    insert.run(row, name.replaceAll(/[._]/g, ' '), server, description, parameters.join(' '))
  }
  const select = database.prepare(
    'select rowid from tools where tools match ? order by bm25(tools, 3, 1, 1, 1) limit 5',
  )
  return (query) => {
    const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu))
    if (words.size === 0) return []
    const rows = select.all([...words].map((word) => `"${word}"`).join(' OR '))
    return rows.flatMap(({ rowid }) => tools[Number(rowid)] ?? [])
  }
}

function readSet(name: string, asked: string): { set: string; tools: Sample[]; queries: Query[] } {
  const lines = <Line>(text: string): Line[] =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line)
  const tools = gunzipSync(readFileSync(new URL(`${name}.tools.jsonl.gz`, shared))).toString()
  const queries = readFileSync(new URL(`${asked}.queries.jsonl`, shared), 'utf8')
  return { set: asked, tools: lines(tools), queries: lines(queries) }
}

/** So few that they only show that the row works. */
function ownSet(): { set: string; tools: Sample[]; queries: Query[] } {
  const make = (name: string, description: string): Sample => ({
    id: name,
    name,
    description,
    inputSchema: {},
  })
  return {
    set: 'own',
    tools: [
      make('shop.refund_order', 'Gives the money of an order back.'),
      make('shop.shipOrder', 'Sends the parcel of an order.'),
      make('mail.send', 'Writes an email to a customer.'),
      make('calendar.createEvent', 'Adds an appointment.'),
    ],
    queries: [
      { query: 'refunding orders', gold: ['shop.refund_order'] },
      { query: 'ship it', gold: ['shop.shipOrder'] },
      { query: 'write to ann@example.com', gold: ['mail.send'] },
    ],
  }
}
