import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'

/** What systems say where a file is not there, or may not be written. */
const fileFault =
  /\b(?:ENOENT|EROFS|EACCES|EPERM)\b|No such file or directory|Read-only file system|Permission denied/
/** What programs say if no host answers them. */
const networkFault =
  /\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH|ECONNREFUSED|ECONNRESET)\b|fetch failed|Name or service not known|Refused by Handrail|Temporary failure in name resolution/
/** What browsers say that cannot start, and those who start them. */
const browserFault = /No usable sandbox|zygote_host|Failed to launch the browser|Target closed|setuid_sandbox/

/**
 * What may be behind a fault of a program, in sentences that follow another one: it does not know that it sees and reaches less than its machine
 * does. Empty if it says nothing of that kind.
 */
export function adviseOnFault(texts: readonly string[], { transport, hosts }: UpstreamServer): string {
  if (transport.kind === 'http') return ''
  const has = (fault: RegExp): boolean => texts.some((text) => fault.test(text))
  const reached = hosts.length === 0 ? 'no host' : `only ${hosts.join(', ')}`
  return [
    has(fileFault)
      ? ' Its program sees only the folders that mcp.json names for it, and writes only to those under "write" and to its home: where it needs another one, the operator adds it there.'
      : '',
    has(networkFault)
      ? ` Its program reaches ${reached}, as "network" in mcp.json says: where it needs another host, the operator adds it there, with its port beside 80 and 443.`
      : '',
    has(browserFault)
      ? ' A browser cannot make its own sandbox inside of this one: the operator starts it with its option "--no-sandbox", for chrome-devtools-mcp as "--chromeArg=--no-sandbox" in "args".'
      : '',
  ].join('')
}
