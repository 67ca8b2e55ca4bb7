import { Agent } from 'undici'
import type { OriginClient } from '../../contract/mcp/tool-feed.ts'
import { askOver } from './ask-over.ts'
import type { NetworkOptions } from './base/network-entry.ts'
import { createNetworkRules } from './base/network-rules.ts'
import { connectMs, connectPinned } from './base/open-connection.ts'
import { readUrl, type UrlBounds } from './base/read-url.ts'
import { lookupBySystem, resolveHost } from './base/resolve-host.ts'

/** An unused connection is kept for so long. */
const keepMs = 60_000

/**
 * A way to one server of the operator. Connections are kept and used again; each is made to an address that was judged then. The host
 * and port of `address` may lie in the own network; any other that is asked for is judged as for calls. Redirects are given back, not followed.
 */
export function openDoor(address: string, options: NetworkOptions): OriginClient {
  const { origin, hostname, port, protocol } = new URL(address)
  const own = `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`
  const hosts = options.hosts ?? ['*']
  const lookup = options.lookup ?? lookupBySystem
  const bounds: { [where in 'there' | 'elsewhere']: UrlBounds } = {
    there: {
      rules: createNetworkRules(options, [own]),
      hosts: ['*'],
    },
    elsewhere: { rules: createNetworkRules(options), hosts },
  }
  const boundsOf = (url: URL): UrlBounds => (url.origin === origin ? bounds.there : bounds.elsewhere)
  const judge = (url: URL) => readUrl(url.href, boundsOf(url))
  const agent = new Agent({
    connect(wanted, callback) {
      const url = new URL(`${wanted.protocol}//${wanted.host ?? wanted.hostname}`)
      const about = { rules: boundsOf(url).rules, lookup, signal: AbortSignal.timeout(connectMs) }
      const fail = (error: unknown) =>
        callback(error instanceof Error ? error : new Error(String(error)), null)
      const find = async () => resolveHost(judge(url), about)
      find().then((addresses) => connectPinned(addresses)(wanted, callback), fail)
    },
    keepAliveTimeout: keepMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 64 * 1024,
    allowH2: false,
  })
  /** Mostly the same one is asked for. Rules stay as they are while a door is open, and addresses are judged at each connection. */
  let judged: { text: string; url: URL } | undefined
  const judgeOnce = (text: string): URL => {
    if (judged?.text !== text) judged = { text, url: judge(new URL(text)).url }
    return judged.url
  }
  return {
    request: async (url, init) => askOver(agent, judgeOnce(String(url)), init),
    close: () => agent.destroy(),
  }
}
