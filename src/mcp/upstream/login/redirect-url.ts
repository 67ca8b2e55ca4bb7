import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'

const defaultPort = 7421

/** Where a browser is led back to: on the port that the operator names for the server, else on one that is the same each time. */
export function toRedirectUrl({ transport }: UpstreamServer): string {
  const port = (transport.kind === 'http' ? transport.login?.redirectPort : undefined) ?? defaultPort
  return `http://127.0.0.1:${port}/callback`
}
