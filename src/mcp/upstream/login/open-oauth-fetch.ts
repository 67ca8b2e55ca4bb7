import type { Web, OriginClient } from '../../../contract/mcp/tool-feed.ts'
import { dropInvisible } from '../../../kit/text/drop-invisible.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { isTrustworthyUrl, loopbackNames } from '../../../kit/match/loopback.ts'
import type { Redactor } from '../../../kit/secrets/redact.ts'
import { messageOf } from '../../../kit/text/message-of.ts'

/** What the way to those who give tokens stands on. */
export interface OauthFetchOptions {
  readonly web: Web
  /** URL of the MCP server. */
  readonly server: string
  /** The authorization server that the operator names. */
  readonly issuer: string | undefined
  /** Removes what must not be shown from what they answer. */
  readonly redactor: Redactor
  readonly signal: AbortSignal
}

/** The way to the servers of a login. */
export interface OauthFetch extends OriginClient {
  /** Sends what is answered with a status only; returns the status. */
  readonly notify: (url: string | URL, init: RequestInit) => Promise<number>
}

/** No answer for a login is longer. */
const maxBytes = 1024 * 1024
const timeoutMs = 30_000

/**
 * The way to the servers of a login: over https, or on this machine. What the MCP server leads to is judged as for calls. In the own
 * network may lie what the operator names, and on this machine what an MCP server on this machine leads to. Only JSON comes back, and of
 * what goes wrong only its code and a short text.
 */
export function openOauthFetch({ web, server, issuer, redactor, signal }: OauthFetchOptions): OauthFetch {
  const origins = new Map<string, OriginClient>()
  const own = new URL(server)
  const named = new Set([own.origin, ...(issuer === undefined ? [] : [new URL(issuer).origin])])
  const isNamed = ({ origin, hostname }: URL): boolean =>
    named.has(origin) || (loopbackNames.includes(own.hostname) && loopbackNames.includes(hostname))
  const originAt = (url: URL): OriginClient => {
    const origin = isNamed(url) ? url.origin : own.origin
    const known = origins.get(origin)
    if (known !== undefined) return known
    const client = web.reach(origin)
    origins.set(origin, client)
    return client
  }
  const send = (url: URL, init: RequestInit): Promise<readonly [Response, string]> => {
    const limits = [signal, AbortSignal.timeout(timeoutMs), ...(init.signal ? [init.signal] : [])]
    return asTypeError(url, async () => {
      if (!isTrustworthyUrl(url.href))
        throw new Error(`"${url.origin}" was not asked: what belongs to a login goes over https only.`)
      const answer = await originAt(url).request(url, { ...init, signal: AbortSignal.any(limits) })
      return [answer, await readText(answer)]
    })
  }
  return {
    notify: async (address, init) => (await send(new URL(address), init))[0].status,
    async request(address, init = {}) {
      const url = new URL(address)
      const [response, text] = await send(url, init)
      const { status, statusText, headers } = response
      const head = { status, statusText, headers }
      if (response.ok) return new Response(await asTypeError(url, async () => requireJson(text, url)), head)
      return new Response(toRefusal(text, status, redactor), head)
    },
    async close() {
      await Promise.all([...origins.values()].map((client) => client.close()))
    },
  }
}

/** Only for an error of this kind does the client of the SDK not look for another way by itself. */
async function asTypeError<T>({ origin }: URL, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const cause = error instanceof TypeError ? error.cause : undefined
    const why = cause instanceof Error ? `"${origin}" cannot be reached: ${cause.message}` : undefined
    throw new TypeError(why ?? messageOf(error), { cause: error })
  }
}

async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const piece of body ?? []) {
    size += piece.length
    if (size > maxBytes) throw new Error(`What was said for a login is larger than ${maxBytes} bytes.`)
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}

/** A parser that fails on text that is not JSON would show a part of the text. */
function requireJson(text: string, url: URL): string {
  try {
    JSON.parse(text)
    return text
  } catch {
    throw new Error(`"${url.origin}${url.pathname}" answered with something that is not JSON.`)
  }
}

/** RFC 6749: what a code of an error may be made of. */
const codeForm = /^[\w.-]{1,64}$/

function toRefusal(text: string, status: number, redactor: Redactor): string {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    // It says it with the status alone.
  }
  const { error, error_description: more } = isPlainObject(answer) ? answer : {}
  const code = typeof error === 'string' && codeForm.test(error) ? error : 'server_error'
  const description =
    typeof more === 'string' ? redactor.text(dropInvisible(more)).slice(0, 200) : `It answered ${status}.`
  return JSON.stringify({ error: code, error_description: description })
}
