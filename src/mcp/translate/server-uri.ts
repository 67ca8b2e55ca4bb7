/** A resource as its server names it. */
export interface ServerResource {
  /** As the operator named the server. */
  readonly server: string
  readonly uri: string
}

/** The form of these URIs (RFC 6570). */
export const serverTemplate = 'handrail://mcp/{server}/{uri}'

/** The URI of a server's resource among those of all servers, so that none is taken for another's. Halves of letters become U+FFFD. */
export function toServerUri({ server, uri }: ServerResource): string {
  const [of, to] = [server, uri].map((part) => encodeURIComponent(part.toWellFormed()))
  return `handrail://mcp/${of}/${to}`
}

/** What such a URI names; undefined if it is none. */
export function readServerUri(from: string): ServerResource | undefined {
  const [, server = '', uri = ''] = /^handrail:\/\/mcp\/([^/?#]+)\/([^/?#]+)$/.exec(from) ?? []
  if (server === '' || uri === '') return undefined
  try {
    return { server: decodeURIComponent(server), uri: decodeURIComponent(uri) }
  } catch {
    return undefined
  }
}
