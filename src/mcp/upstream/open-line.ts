import type { JsonObject } from '../../contract/base/json.ts'
import type { LineEnd, LineLoad, ServerLine } from '../../contract/mcp/server-line.ts'
import type { FeedHost } from '../../contract/mcp/tool-feed.ts'
import type { UpstreamServer } from '../../contract/mcp/upstream.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { Packages } from '../packages/open-packages.ts'
import { asIs } from './base/as-is.ts'
import { longestMs } from '../../kit/time/longest-ms.ts'
import { createLink, type Link } from './connection/create-link.ts'
import { importTool, type ImportedTool } from './base/import-tool.ts'
import type { Login } from './login/create-login.ts'
import type { Connection } from './connection/open-connection.ts'
import { createLineQuestions, type Questions } from './base/questions.ts'
import { toToolName } from './base/tool-names.ts'
import type { Offer } from './base/upstream.ts'

/** A call that goes over a line of its client's own. */
export interface Carried {
  readonly link: Link
  readonly load: LineLoad
  /** What its server asks without naming a call. */
  readonly questions: Questions
  /** What the server says of the tool on this line. */
  standing(tool: ImportedTool): Offer
}

/** What a line is opened with. */
export interface LineOptions {
  readonly server: UpstreamServer
  readonly host: FeedHost
  /** Where the programs of servers keep their data. Undefined: nowhere. */
  readonly folder: string | undefined
  /** Undefined: the command of a program fetches what it runs, if it does. */
  readonly packages: Packages | undefined
  /** Undefined: no login. */
  readonly login: Login | undefined
  readonly end: LineEnd
  /** Where calls find the line that they go over, by their id. */
  readonly carried: Map<string, Carried>
  /** What the tool of this canonical name was made from; undefined if there is none. */
  readonly seen: (name: string) => string | undefined
  /** Asks over a link; rejects with a `ToolFailure`. */
  readonly send: (
    link: Link,
    work: (connection: Connection) => Promise<Record<string, unknown>>,
    signal: AbortSignal,
  ) => Promise<Record<string, unknown>>
  /** Told with each list of tools that the server answers. What this returns is awaited. */
  readonly onOpen: () => Promise<void> | undefined
  readonly onClose: () => void
}

interface Offered {
  readonly name: string
  readonly seen: string
  readonly said: JsonObject
}

/** A line that has not connected yet. */
export function openLine({
  server,
  host,
  folder,
  packages,
  login,
  end,
  carried,
  seen,
  send,
  onOpen,
  onClose,
}: LineOptions): ServerLine {
  const questions = createLineQuestions((method, params, signal) => end.answer(method, params, signal))
  let closed = false
  let offers: ReadonlyMap<string, Offered> = new Map()
  const link = createLink({
    server,
    host,
    folder,
    packages,
    login,
    tenant: end.tenant,
    end,
    answer: (method, params, signal) => questions.answer(method, params, signal),
    onTools: async (raw) => {
      const isNews = offers.size > 0
      offers = toOffers(server.name, raw)
      await onOpen()
      if (isNews) end.notify('notifications/tools/list_changed', {})
    },
  })
  const standing = ({ name, seen: before }: ImportedTool): Offer => {
    const offered = offers.get(name)
    return offered === undefined ? 'gone' : offered.seen === before ? 'same' : 'changed'
  }
  return {
    server: server.name,
    async greet() {
      const { client, era } = await link.open()
      // Each message is parsed JSON.
      const capabilities = (client.getServerCapabilities() ?? {}) as JsonObject
      return { era, capabilities, instructions: client.getInstructions() }
    },
    async tools() {
      await link.open()
      return [...offers.values()].filter((offered) => seen(offered.name) === offered.seen)
    },
    canonicalName: (tool) => toToolName(server.name, tool),
    carry(toolCallId, load) {
      carried.set(toolCallId, { link, load, questions, standing })
      return () => void carried.delete(toolCallId)
    },
    async ask(method, params, signal) {
      const answer = await send(
        link,
        ({ client }) =>
          client.request({ method, params }, asIs, { signal, timeout: longestMs, allowInputRequired: true }),
        signal,
      )
      // Each message is parsed JSON.
      return answer as JsonObject
    },
    isClosed: () => closed,
    async close() {
      closed = true
      onClose()
      await link.close()
    },
  }
}

function toOffers(server: string, raw: readonly unknown[]): Map<string, Offered> {
  const offers = new Map<string, Offered>()
  for (const each of raw) {
    const tool = importTool(server, each)
    if ('message' in tool || offers.has(tool.name) || !isPlainObject(each)) continue
    // Each message is parsed JSON.
    offers.set(tool.name, { name: tool.name, seen: tool.seen, said: each as JsonObject })
  }
  return offers
}
