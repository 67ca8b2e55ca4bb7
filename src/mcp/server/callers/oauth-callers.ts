import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import type { OAuthCallers } from '../../../contract/mcp/serving.ts'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import type { Caller } from './caller.ts'
import { readIssuerMetadata } from './issuer-metadata.ts'
import { toSessionOptions } from './to-session-options.ts'
import { messageOf } from '../../../kit/text/message-of.ts'

/** What an access token turned out to be. */
export type Verified =
  | {
      readonly kind: 'caller'
      readonly caller: Omit<Caller, 'decides'>
      /** Whether it has the scopes of an approver. */
      readonly decides: boolean
    }
  /** Wrong, expired, or made for another resource. */
  | { readonly kind: 'invalid'; readonly why: string }
  | { readonly kind: 'insufficient_scope' }
  /** The authorization server could not be asked for its keys. */
  | { readonly kind: 'unavailable'; readonly why: string }

/** With a key that both sides know, each server that checks a token could make one: only signatures of a private key count. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
/** How far the clocks of two machines may be apart. */
const clockToleranceSeconds = 30
/** How long an authorization server that could not be asked is left alone. */
const retryAfterMs = 5_000

/** Verifies access tokens of an authorization server and finds whom they stand for. Its keys are fetched with the first one. */
export function createOAuthCallers(options: OAuthCallers): (token: string) => Promise<Verified> {
  const { issuer, resource, scopes = [] } = options
  const findKeys = createKeys(options)

  return async (token) => {
    const jose = await import('jose')
    let keys: JWTVerifyGetKey
    try {
      keys = await findKeys()
    } catch (error) {
      return { kind: 'unavailable', why: messageOf(error) }
    }
    try {
      const { payload } = await jose.jwtVerify(token, keys, {
        issuer,
        audience: resource,
        algorithms,
        clockTolerance: clockToleranceSeconds,
        requiredClaims: ['exp'],
      })
      if (!hasScopes(payload, scopes)) return { kind: 'insufficient_scope' }
      return toCaller(payload, options)
    } catch (error) {
      const isAnswer = error instanceof jose.errors.JOSEError && !(error instanceof jose.errors.JWKSTimeout)
      return { kind: isAnswer ? 'invalid' : 'unavailable', why: messageOf(error) }
    }
  }
}

/** One set of keys for all tokens; a fault is not asked for again at once. */
function createKeys({ issuer, jwksUri }: OAuthCallers): () => Promise<JWTVerifyGetKey> {
  let found: Promise<JWTVerifyGetKey> | undefined
  const find = async (): Promise<JWTVerifyGetKey> => {
    const { createRemoteJWKSet } = await import('jose')
    const url = jwksUri ?? (await readIssuerMetadata(issuer)).jwksUri
    return createRemoteJWKSet(new URL(url), { timeoutDuration: 5_000 })
  }
  return () => {
    if (found !== undefined) return found
    const finding = find()
    found = finding
    finding.catch(() => setTimeout(() => (found = undefined), retryAfterMs).unref())
    return finding
  }
}

function hasScopes({ scope, scp }: JWTPayload, wanted: readonly string[]): boolean {
  const texts = [scope, ...(Array.isArray(scp) ? scp : [scp])].filter((each) => typeof each === 'string')
  const given = new Set(texts.flatMap((text) => text.split(' ')))
  return wanted.every((each) => given.has(each))
}

function toCaller(payload: JWTPayload, options: OAuthCallers): Verified {
  const { issuer, tenantClaim, actorClaim = 'sub', tenant, approverScopes, ...rest } = options
  const actor = payload[actorClaim]
  if (!isName(actor)) return { kind: 'invalid', why: `it has no claim "${actorClaim}"` }
  const named = tenantClaim === undefined ? tenant : payload[tenantClaim]
  if (tenantClaim !== undefined && !isName(named))
    return { kind: 'invalid', why: `it has no claim "${tenantClaim}"` }
  const identity = { ...rest, actor, ...(isName(named) && { tenant: named }) }
  return {
    kind: 'caller',
    caller: {
      key: `${prefixOf(issuer)}${canonicalJson(toSessionOptions(identity))}`,
      session: toSessionOptions(identity),
      expiresAt: (payload.exp ?? 0) * 1_000,
    },
    decides: approverScopes !== undefined && hasScopes(payload, approverScopes),
  }
}

/** Whether a caller's key was made from a token of this authorization server. */
export function isOfIssuer(key: string, { issuer }: OAuthCallers): boolean {
  return key.startsWith(prefixOf(issuer))
}

function prefixOf(issuer: string): string {
  return `oauth:${JSON.stringify(issuer)}:`
}

function isName(claim: unknown): claim is string {
  return typeof claim === 'string' && claim !== ''
}
