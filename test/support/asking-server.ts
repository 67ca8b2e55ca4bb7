import { createInterface } from 'node:readline'

/**
 * A server on stdio, of a revision with a handshake, that asks its client what it is told to: a request of a server carries nothing that says
 * for which call it is.
 */
interface Message {
  id?: number | string
  method?: string
  params?: { name?: string; arguments?: { requests?: Request[]; before?: boolean }; protocolVersion?: string }
  result?: unknown
  error?: unknown
}

interface Request {
  method: string
  params?: object
}

const say = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const answer = (id: Message['id'], said: unknown): void =>
  say({ id, result: { content: [{ type: 'text', text: JSON.stringify(said) }] } })

const waiting = new Map<string, (answered: Message) => void>()
const held: Message['id'][] = []
let declared: unknown
let asked = 0

/** What the client answers: the result, or the error. */
function ask({ method, params = {} }: Request): Promise<unknown> {
  const id = `ask-${asked++}`
  // Larger than a call may be.
  const large = JSON.stringify(params).replace('<10 MB>', 'x'.repeat(10_000_000))
  say({ id, method, params: JSON.parse(large) as object })
  return new Promise((resolve) => waiting.set(id, ({ result, error }) => resolve(result ?? { error })))
}

const tools: Readonly<Record<string, (id: Message['id'], requests: readonly Request[]) => unknown>> = {
  /** Asks all of it at once, and tells what came back. */
  ask: async (id, requests) => answer(id, await Promise.all(requests.map(ask))),
  /** Does not wait for what it asked. */
  rush(id, requests) {
    for (const request of requests) void ask(request)
    answer(id, 'done')
  },
  /** What was answered to what it asked before any call. */
  told: async (id) => answer(id, await early),
  /** Takes back what it asked. */
  withdraw(id, requests) {
    for (const request of requests) void ask(request)
    setTimeout(() => {
      say({ method: 'notifications/cancelled', params: { requestId: `ask-${asked - 1}` } })
      held.push(id)
    }, 200)
  },
  /** Asks, and ends when it is released, answered or not. */
  impatient(id, requests) {
    for (const request of requests) void ask(request)
    held.push(id)
  },
  hold: (id) => void held.push(id),
  release(id) {
    for (const other of held.splice(0)) answer(other, 'released')
    answer(id, 'done')
  },
  declared: (id) => answer(id, declared),
}
let early: Promise<unknown> | undefined

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as Message & { params?: { capabilities?: unknown } }
  const { id, method, params } = message
  if (method === undefined) return waiting.get(String(id))?.(message)
  if (method === 'initialize') {
    declared = params?.capabilities
    say({
      id,
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'asking', version: '1' },
      },
    })
  } else if (method === 'notifications/initialized') {
    if (process.argv.includes('early')) early = ask(JSON.parse(process.argv.at(-1) ?? '') as Request)
  } else if (method === 'tools/list')
    say({
      id,
      result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) },
    })
  else if (method === 'tools/call') void tools[params?.name ?? '']?.(id, params?.arguments?.requests ?? [])
  else if (id !== undefined) say({ id, error: { code: -32_601, message: 'unknown' } })
})
