import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { quoteArgv } from '../../../kit/text/quote-argv.ts'
import { createRedactor } from '../../../kit/secrets/redact.ts'
import { showControls } from '../../../kit/text/show-controls.ts'
import { longOption, secretOption, secretPair } from './secret-words.ts'

/**
 * Where a call of a server goes, for the person who is asked about it: its address, or the command line of its program as the operator
 * wrote it, with the folders and hosts that it has. Shortened, and without what looks like a secret.
 */
export function describePlace({ transport, hosts }: UpstreamServer): string[] {
  if (transport.kind === 'http') return [`at ${shorten(showUrl(transport.url))}`]
  const { command, args, cwd, read, write } = transport
  const reads = [cwd ?? 'project', ...read].filter((folder) => !write.includes(folder))
  return [
    `runs ${shorten(quoteArgv(withoutSecrets([command, ...args])))}`,
    ...(reads.length === 0 ? [] : [`  sees ${showFolders(reads)}`]),
    ...(write.length === 0 ? [] : [`  writes to ${showFolders(write)}`]),
    `  reaches ${hosts.length === 0 ? 'no network' : shorten(hosts.map((host) => (host === '*' ? 'any host' : host)).join(', '))}`,
  ]
}

const longest = 300

function shorten(text: string): string {
  const shown = showControls(text)
  return shown.length > longest ? `${shown.slice(0, longest).toWellFormed()}…` : shown
}

function showFolders(folders: readonly string[]): string {
  const named = [...new Set(folders)].map((folder) => (folder === 'project' ? 'the project' : folder))
  return shorten(named.join(', '))
}

/** Its host alone: a credential may stand everywhere else in an address. */
function showUrl(address: string): string {
  if (!URL.canParse(address)) return `${address.slice(0, address.indexOf('://'))}://…`
  const { protocol, host, pathname, search, hash } = new URL(address)
  return `${protocol}//${host}${pathname.length > 1 || search !== '' || hash !== '' ? '/…' : ''}`
}

const hidden = '[redacted]'
const tokens = createRedactor([])
const addresses = /[a-z][a-z0-9+.-]{0,30}:\/\/\S+/gi

function withoutSecrets(argv: readonly string[]): string[] {
  return argv.map((each, index) => {
    if (secretOption.test(argv[index - 1] ?? '') && !longOption.test(each)) return hidden
    return tokens.text(each.replace(addresses, showUrl).replace(secretPair, `$1${hidden}`))
  })
}
