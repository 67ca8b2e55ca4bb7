import { SignJWT, importJWK } from 'jose'
import type { PrivateKey } from '../../contract/a2a/serving.ts'
import { tokenSeconds, tokenType, type Claim } from '../base/protocol.ts'

/** Whom a token is of and for. */
export interface TokenFacts {
  readonly issuer: string
  readonly audience: string
  readonly key: PrivateKey
  /** What we call the request; names the token. */
  readonly jti: string
}

/** A token for one request. It says nothing of who makes it but the issuer: no tenant, no actor, no right of theirs. */
export async function signToken(claim: Claim, { issuer, audience, key, jti }: TokenFacts): Promise<string> {
  const alg = key.kty === 'EC' ? 'ES256' : 'EdDSA'
  return new SignJWT({ ...claim })
    .setProtectedHeader({ alg, kid: key.kid, typ: tokenType })
    .setIssuer(issuer)
    .setAudience(audience)
    .setJti(jti)
    .setIssuedAt()
    .setExpirationTime(`${tokenSeconds}s`)
    .sign(await importJWK({ ...key }, alg))
}
