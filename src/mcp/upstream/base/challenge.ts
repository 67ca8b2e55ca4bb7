import type { OriginClient } from '../../../contract/mcp/tool-feed.ts'

/** What a server asks for when it refuses a request for want of a login, in its own words: it comes from outside. */
export interface Challenge {
  /** Whether a login is there, with too few rights. */
  readonly isStepUp: boolean
  readonly resourceMetadataUrl: URL | undefined
  readonly scope: string | undefined
}

/** What a login is asked for where no server said anything. */
export const noChallenge: Challenge = { isStepUp: false, resourceMetadataUrl: undefined, scope: undefined }

/** Whether a response may be refused for want of a login. Looks at its head only. */
export function isRefusal({ status, headers }: Response, { isExpected }: { isExpected: boolean }): boolean {
  const said = headers.get('www-authenticate') ?? ''
  if (status === 401) return isExpected || /^bearer\b/i.test(said)
  return status === 403 && /^bearer\b.*\berror="?insufficient_scope\b/i.test(said)
}

/** What a refusal asks for. */
export async function readChallenge(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client')
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
  await response.body?.cancel()
  return { isStepUp: response.status === 403, resourceMetadataUrl, scope }
}

type Init = Parameters<OriginClient['request']>[1]

/** The same request with a token, or with none. */
export function withToken(init: Init, token: string | undefined): Init {
  if (token === undefined) return init
  const headers = new Headers(init?.headers)
  headers.set('authorization', `Bearer ${token}`)
  return { ...init, headers }
}

/** Scopes as a list, each once. */
export function toScopes(...texts: readonly (string | undefined)[]): string[] {
  return [...new Set(texts.flatMap((text) => text?.split(/\s+/) ?? []).filter((each) => each !== ''))]
}

/** Scopes as they travel; undefined if there are none. */
export function toScope(...texts: readonly (string | undefined)[]): string | undefined {
  const scopes = toScopes(...texts)
  return scopes.length === 0 ? undefined : scopes.join(' ')
}
