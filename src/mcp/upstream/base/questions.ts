import type { Json, JsonObject } from '../../../contract/base/json.ts'
import type { ToolContext } from '../../../contract/tool/tool.ts'
import type { CallBinding } from '../../../contract/mcp/direct-connection.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import {
  RequestRefused,
  toElicitation,
  toServerAnswer,
  unknownMethod,
  type ServerRequest,
} from './to-elicitation.ts'

/** A call under way, as far as its server may ask it something. */
export type Asker = Pick<ToolContext, 'session' | 'caller' | 'elicit' | 'awaitPerson'>

/** What a server asks over the connection that all calls of a tenant share. */
export interface Questions {
  /** A call sets out on it. */
  join(asker: Asker): void
  /** It is over, and whatever the server asked meanwhile is withdrawn. */
  leave(asker: Asker): void
  /** Answers a request of the server. Rejects with a `RequestRefused` where it has no answer. */
  answer(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>
}

/** More at once are no questions to a person. */
const maxAtOnce = 16
/** How often a question that reached no session is reported. */
const reportEveryMs = 60_000

/**
 * In revisions to 2025-11-25 a question carries no name of a call. It belongs to the session whose calls are under way. If calls of
 * several are, or none is, Handrail cannot know whose it is, and declines it rather than show it to the wrong person.
 */
export function createQuestions(server: UpstreamServer, report: (message: string) => void): Questions {
  /** The latest last, with what withdraws their questions. */
  const askers = new Map<Asker, AbortController | undefined>()
  let reportedAt = -Infinity
  const reportStray = (): void => {
    if (performance.now() - reportedAt < reportEveryMs) return
    reportedAt = performance.now()
    report(
      askers.size === 0
        ? 'It asked something while no call of it was under way. That was declined.'
        : 'It asked something while calls of several sessions were under way. Handrail cannot tell whom it asked, and declined.',
    )
  }
  return {
    join(asker) {
      // A call that sets out again leaves no question of its first time behind.
      if (!askers.has(asker)) askers.set(asker, undefined)
    },
    leave(asker) {
      askers.get(asker)?.abort()
      askers.delete(asker)
    },
    async answer(method, params, signal) {
      const asker = findAsker(askers.keys())
      if (asker === undefined) {
        reportStray()
        return answerOne({ method, params }, { server, asker: noCall, signal })
      }
      const over = askers.get(asker) ?? new AbortController()
      askers.set(asker, over)
      const wanted = AbortSignal.any([signal, over.signal])
      const others = [...askers.keys()].filter((each) => each !== asker)
      const presumed = others.length > 0
      return whileOthersWait(others, () =>
        answerOne({ method, params }, { server, asker, signal: wanted, presumed }),
      )
    },
  }
}

/** What a server asks by way of the answer to a call (2026-07-28), by its own keys. Throws a `ToolFailure` where it cannot be had. */
export async function answerAll(
  requests: JsonObject,
  asked: { server: UpstreamServer; asker: Asker; signal: AbortSignal },
): Promise<JsonObject> {
  try {
    const entries = Object.entries(requests)
    if (entries.length > maxAtOnce)
      throw new RequestRefused(unknownMethod, `It asked ${entries.length} things at once.`)
    const given: [string, JsonObject][] = []
    // One after the other: there is one person.
    for (const [key, request] of entries) given.push([key, await answerOne(toRequest(request), asked)])
    // The keys are those of the server, so that none of them may be a setter.
    return Object.fromEntries(given)
  } catch (error) {
    throw error instanceof RequestRefused ? error.toFailure(asked.server.name) : error
  }
}

async function answerOne(
  request: ServerRequest,
  {
    server,
    asker,
    signal,
    presumed = false,
  }: { server: UpstreamServer; asker: Asker; signal: AbortSignal; presumed?: boolean },
): Promise<JsonObject> {
  const elicitation = toElicitation(server, request)
  if (elicitation === undefined)
    throw new RequestRefused(unknownMethod, `"${request.method.slice(0, 80)}" is not offered to it.`)
  return toServerAnswer(elicitation, await asker.elicit({ ...elicitation, presumed }, signal))
}

const noCall: Asker = {
  session: '',
  elicit: async () => ({ action: 'decline' }),
  awaitPerson: (work) => work(),
}

/** Does work for which the time of all these calls stands still, as it may be for any of them. It counts for the call that is asked. */
function whileOthersWait<T>(others: readonly Asker[], work: () => Promise<T>): Promise<T> {
  return others.reduce<() => Promise<T>>(
    (inner, other) => () => other.awaitPerson(inner, 'elsewhere'),
    work,
  )()
}

/** The same over a direct connection, whose client answers itself. `isShared`: calls at the same time may be of several clients, so that the server may mean any of them. */
export function createDirectQuestions(isShared: boolean) {
  /** The latest last. */
  const calls = new Map<Asker, CallBinding>()
  const find = (): [Asker, CallBinding] | undefined =>
    isShared && calls.size > 1 ? undefined : [...calls].at(-1)
  return {
    /** The call that the server speaks of, as far as that can be known. */
    current: () => find()?.[1],
    /** A call with this binding sets out, and is over. */
    of: (binding: CallBinding): Pick<Questions, 'join' | 'leave'> => ({
      join: (asker) => void calls.set(asker, binding),
      leave: (asker) => void calls.delete(asker),
    }),
    async answer(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
      const [asker, binding] = find() ?? []
      if (asker === undefined || binding === undefined)
        throw new Error('There is no one call that this could belong to.')
      const others = [...calls.keys()].filter((each) => each !== asker)
      const send = () => binding.sendRequests({ asked: { method, params } }, signal)
      const { asked } = await whileOthersWait(others, () => asker.awaitPerson(send))
      return isPlainObject(asked) ? asked : {}
    },
  }
}

/** The latest, where all are of one session. */
function findAsker(askers: Iterable<Asker>): Asker | undefined {
  let found: Asker | undefined
  for (const asker of askers) {
    if (found !== undefined && found.session !== asker.session) return undefined
    found = asker
  }
  return found
}

function toRequest(raw: Json): ServerRequest {
  const { method, params } = isPlainObject(raw) ? raw : {}
  return { method: typeof method === 'string' ? method : '', params: isPlainObject(params) ? params : {} }
}
