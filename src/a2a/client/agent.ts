import { A2A_PROTOCOL_VERSION, A2A_VERSION_HEADER, type AgentCard } from '@a2a-js/sdk'
import type { Transport } from '@a2a-js/sdk/client'
import type { A2aAgent, A2aConfiguration } from '../../contract/a2a/agents.ts'
import type { PrivateKey } from '../../contract/a2a/serving.ts'
import type { FeedHost } from '../../contract/mcp/tool-feed.ts'
import { newId } from '../../kit/new-id.ts'
import { fillSecretNames } from '../../kit/secrets/secret-names.ts'
import { callExtension, type Claim } from '../base/protocol.ts'
import { withinMs } from '../../kit/time/within-ms.ts'
import { openWay } from './open-way.ts'
import { signToken } from './sign-token.ts'
import { readSkills, type Skills } from './skills.ts'

/** An agent as one tenant has it: what its card says to us, and a way to ask it. */
export interface KnownAgent {
  readonly client: Transport
  /** For whom tokens are made. */
  readonly audience: string
  readonly skills: Skills
  /** Headers of one request: a token for nothing but that, or what the operator has for the agent. `jti` names the request. */
  headers(claim: Claim, jti?: string): Promise<{ fields: Record<string, string>; key: string | undefined }>
  /** Does what may go on when its call was answered. The signal is aborted at the close, which then waits a while. */
  outlive<T>(work: (closing: AbortSignal) => Promise<T>): Promise<T>
}

/** An agent of another domain. */
export interface Agent {
  readonly name: string
  readonly options: A2aAgent
  /** How it is now: its card is read anew if what is known is older than this. Rejects if it cannot be had. */
  look(tenant: string, newerMs: number): Promise<KnownAgent>
  close(): Promise<void>
}

/** What agents are spoken to with. */
export interface AgentSurroundings {
  readonly host: FeedHost
  readonly configuration: Omit<A2aConfiguration, 'agents'>
  /** The key that signs now. */
  readonly findKey: () => Promise<PrivateKey>
}

interface Seen {
  readonly at: number
  readonly known: Promise<KnownAgent>
}

/** How long a close waits for what outlived its call. */
const closeMs = 5_000

/** An agent that was not looked at yet. */
export function openAgent(name: string, options: A2aAgent, surroundings: AgentSurroundings): Agent {
  const { host, configuration } = surroundings
  const way = openWay(name, options.card, host)
  /** By our issuer: another one may be shown other tools. */
  const seen = new Map<string, Seen>()
  const closing = new AbortController()
  const outliving = new Set<Promise<unknown>>()
  const outlive: KnownAgent['outlive'] = async (work) => {
    const working = work(closing.signal)
    outliving.add(working)
    try {
      return await working
    } finally {
      outliving.delete(working)
    }
  }

  const read = async (issuer: string): Promise<KnownAgent> => {
    const card = await way.readCard()
    const { client, audience } = await way.open(card)
    const headers = createHeaders({ ...surroundings, options, audience, issuer })
    const own = await readOwnCard(card, client, headers)
    return { client, audience, headers, outlive, skills: readSkills(name, own, options) }
  }
  return {
    name,
    options,
    async look(tenant, newerMs) {
      const { issuer, issuers = {} } = configuration
      const own = (Object.hasOwn(issuers, tenant) ? issuers[tenant] : undefined) ?? issuer
      const last = seen.get(own)
      if (last !== undefined && performance.now() - last.at < newerMs) return last.known
      const known = read(own)
      seen.set(own, { at: performance.now(), known })
      known.catch(() => seen.delete(own))
      return known
    },
    async close() {
      closing.abort()
      await withinMs(Promise.allSettled(outliving), closeMs)
      await way.close()
    },
  }
}

/** What each request says it is. */
const version = { [A2A_VERSION_HEADER]: A2A_PROTOCOL_VERSION }

/** What an agent that takes calls shows to us alone. */
async function readOwnCard(
  card: AgentCard,
  client: Transport,
  headers: KnownAgent['headers'],
): Promise<AgentCard> {
  const takesCalls = card.capabilities?.extensions.some(({ uri }) => uri === callExtension) ?? false
  if (!takesCalls || card.capabilities?.extendedAgentCard !== true) return card
  const { fields } = await headers({ does: 'card' })
  return client.getExtendedAgentCard({ tenant: '' }, { serviceParameters: fields })
}

function createHeaders({
  host,
  findKey,
  options: { headers: given = {} },
  audience,
  issuer,
}: AgentSurroundings & { options: A2aAgent; audience: string; issuer: string }): KnownAgent['headers'] {
  const valueOf = (name: string): string => {
    const value = host.secret(name)
    if (value !== undefined) return value
    throw new Error(`The secret "${name}" is not there. Set it in the environment, and start Handrail again.`)
  }
  const isOwn = Object.keys(given).some((name) => name.toLowerCase() === 'authorization')
  return async (claim, jti = newId('ask', Date.now())) => {
    const fields = Object.fromEntries(
      Object.entries(given).map(([name, text]) => [name, fillSecretNames(text, valueOf)]),
    )
    if (isOwn) return { fields: { ...version, ...fields }, key: undefined }
    const key = await findKey()
    const token = await signToken(claim, { issuer, audience, key, jti })
    return { fields: { ...version, ...fields, Authorization: `Bearer ${token}` }, key: key.kid }
  }
}
