import { DefaultAgentCardResolver, JsonRpcTransportFactory, type Transport } from '@a2a-js/sdk/client'
import { AgentCard } from '@a2a-js/sdk'
import type { FeedHost, OriginClient } from '../../contract/mcp/tool-feed.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import { messageOf } from '../../kit/text/message-of.ts'

/** A transport of the SDK whose requests go through the guard of the network. */
export interface Way {
  /** The card that everybody may read. */
  readCard(): Promise<AgentCard>
  /** A transport to the agent of a card, and where it listens: the audience of tokens. */
  open(card: AgentCard): Promise<{ client: Transport; audience: string }>
  close(): Promise<void>
}

/** A larger answer is none. */
const maxBytes = 8 * 1024 * 1024
const cardMs = 15_000

/** A way to the server that a card lies on, and to no other: what goes there is for that one alone. */
export function openWay(name: string, cardUrl: string, { web }: Pick<FeedHost, 'web'>): Way {
  const { origin } = new URL(cardUrl)
  const door = web.reach(cardUrl)
  const fetchImpl = createFetch(name, { origin, door })
  const legacyCompat = { enabled: true }
  const resolver = new DefaultAgentCardResolver({ fetchImpl, legacyCompat })
  const factory = new JsonRpcTransportFactory({ fetchImpl, legacyCompat })
  return {
    // A card of strangers may lack what the SDK takes for granted.
    readCard: async () => AgentCard.fromJSON(await resolver.resolve(cardUrl, '')),
    async open(card) {
      const found = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'JSONRPC')
      if (found === undefined) throw new Error('Its card names no interface over JSON-RPC.')
      if (!URL.canParse(found.url) || new URL(found.url).origin !== origin)
        throw new Error(
          `Its card leads to another server than its own, "${found.url.slice(0, 200)}". Name the card of that one.`,
        )
      const client = await factory.create(found.url, { ...card, supportedInterfaces: [found] })
      return { client, audience: found.url }
    },
    close: () => door.close(),
  }
}

/** Errors of the way to a server before it could have heard anything. */
const unreached =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS|CERT_/

function createFetch(name: string, { origin, door }: { origin: string; door: OriginClient }): typeof fetch {
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    if (new URL(url).origin !== origin) throw new Error(`It leads to another server, "${url.slice(0, 200)}".`)
    const isPost = init?.method === 'POST'
    const signal = isPost ? init.signal : AbortSignal.timeout(cardMs)
    const response = await door
      .request(url, { ...init, ...(signal && { signal }) })
      .catch((error: unknown) => {
        throw toFailure(name, error)
      })
    refuseStatus(name, response.status)
    return new Response(await readBounded(response), { status: response.status, headers: response.headers })
  }
}

/** What the server says no to before it does anything. */
function refuseStatus(name: string, status: number): void {
  if (status === 401 || status === 403)
    throw new ToolFailure({
      code: 'PROVIDER.UNAVAILABLE',
      reason: 'upstream_down',
      message: `The agent "${name}" does not take our token (${status}), so nothing was done. Its operator has to know our issuer and the keys of "handrail a2a keys", under the URL that its card names.`,
      data: { agent: name },
    })
  if (status === 429 || status === 503)
    throw new ToolFailure({
      code: 'PROVIDER.UNAVAILABLE',
      reason: 'rate_limited',
      message: `The agent "${name}" takes no more at the moment (${status}), so nothing was done. Try again later.`,
    })
  if (status >= 300 && status < 400) throw new Error(`it answered with a redirect (${status})`)
}

function toFailure(name: string, error: unknown): unknown {
  const said = codesOf(error)
  if (!unreached.test(said)) return error
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'upstream_down',
    message: `The agent "${name}" cannot be reached, so nothing was done (${messageOf(error)}). Go on without it, or try again later.`,
    data: { agent: name },
  })
}

/** The codes of an error and of what is behind it. */
function codesOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : ''
  const inner = error instanceof AggregateError ? error.errors.map(codesOf).join(' ') : ''
  return [code, error.message, inner, error.cause === undefined ? '' : codesOf(error.cause)].join(' ')
}

async function readBounded(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`its answer is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}
