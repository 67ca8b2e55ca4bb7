import { decodeJwt, errors, jwtVerify, type JWTPayload } from 'jose'
import type { A2aPeer } from '../../contract/a2a/serving.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { algorithms, tokenSeconds, tokenType, type Claim } from '../base/protocol.ts'
import type { KnownPeer } from './peers.ts'

/** A token that is what its bearer needs for a request, and was not looked for in the store yet. */
export interface Verified {
  readonly peer: A2aPeer
  /** What the peer calls its call; names the token. */
  readonly jti: string
  readonly key: string
  /** When it holds no more, in milliseconds since the epoch. */
  readonly expiresAt: number
  readonly idempotencyKey: string | undefined
}

/** Why a token opens nothing. */
export interface Unverified {
  readonly status: 401 | 503
  readonly why: string
}

/** How far the clocks of two machines may be apart. */
export const clockToleranceSeconds = 30
const longestId = 200

/** Holds a token against what is asked with it: whose it is, whom it is for, for how long, and for which request. */
export async function verifyToken(
  token: string,
  wanted: Claim,
  { peers, audience }: { peers: ReadonlyMap<string, KnownPeer>; audience: string },
): Promise<Verified | Unverified> {
  const known = peers.get(issuerOf(token) ?? '')
  if (known === undefined) return refused('its issuer is not known here')
  try {
    const { payload, protectedHeader } = await jwtVerify(token, await known.keys(), {
      issuer: known.peer.issuer,
      audience,
      algorithms,
      typ: tokenType,
      clockTolerance: clockToleranceSeconds,
      maxTokenAge: tokenSeconds * 2,
      requiredClaims: ['exp', 'iat', 'jti'],
    })
    const { jti = '', exp = 0, aud } = payload
    if (jti === '' || jti.length > longestId) return refused('its "jti" is not an id')
    // One that is for several would let each of them call the others.
    if (aud !== audience) return refused('it is for more than this audience')
    const mismatch = findMismatch(payload, wanted)
    if (mismatch !== undefined) return refused(mismatch)
    const { kid } = protectedHeader
    if (typeof kid !== 'string') return refused('it does not name its key')
    const idempotencyKey = typeof payload['key'] === 'string' ? payload['key'] : undefined
    return { peer: known.peer, jti, key: kid, expiresAt: exp * 1_000, idempotencyKey }
  } catch (error) {
    if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout))
      return refused(messageOf(error))
    return { status: 503, why: `the keys of its issuer cannot be had: ${messageOf(error)}` }
  }
}

function refused(why: string): Unverified {
  return { status: 401, why }
}

/** Nothing but the name under which its keys are looked for. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

/** What a token says otherwise than its bearer needs; undefined if it fits. */
function findMismatch(payload: JWTPayload, wanted: Claim): string | undefined {
  const fields = ['does', ...Object.keys(wanted)]
  const other = fields.find((field) => payload[field] !== Reflect.get(wanted, field))
  return other === undefined ? undefined : `it is for another "${other}"`
}
