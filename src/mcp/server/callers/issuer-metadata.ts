import { isTrustworthyUrl } from '../../../kit/match/loopback.ts'
import { messageOf } from '../../../kit/text/message-of.ts'

/** What is needed of the metadata of an authorization server. */
export interface IssuerMetadata {
  readonly jwksUri: string
}

const timeoutMs = 5_000
const maxBytes = 256 * 1024

/**
 * Reads where the keys of an authorization server are: RFC 8414 first, then OpenID Connect Discovery. Follows no redirect. Fails if
 * neither is there, or where the document is one of another issuer.
 */
export async function readIssuerMetadata(issuer: string): Promise<IssuerMetadata> {
  const faults: string[] = []
  for (const url of metadataUrls(issuer)) {
    const document = await read(url).catch((error: unknown) => {
      faults.push(`${url}: ${messageOf(error)}`)
    })
    if (document === undefined) continue
    if (document['issuer'] !== issuer)
      throw new Error(`${url} is of the issuer "${String(document['issuer'])}", not of "${issuer}".`)
    const jwksUri = document['jwks_uri']
    if (typeof jwksUri !== 'string' || !isTrustworthyUrl(jwksUri))
      throw new Error(`${url} names no keys (jwks_uri) at an https URL.`)
    return { jwksUri }
  }
  throw new Error(`The metadata of "${issuer}" cannot be read. ${faults.join('; ')}`)
}

function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    ...(path === '' ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
  ]
}

async function read(url: string): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (response.status !== 200) throw new Error(`it answered ${response.status}`)
  const document: unknown = JSON.parse(await readText(response))
  if (typeof document !== 'object' || document === null) throw new Error('it is not a JSON object')
  return { ...document }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`it is longer than ${maxBytes} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
