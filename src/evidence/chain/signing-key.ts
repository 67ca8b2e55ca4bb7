import { createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto'

/** An Ed25519 key (RFC 8032) that signs checkpoints. */
export interface SigningKey {
  /** `key_` and a fingerprint of the public key, so that a name stands for one key only. */
  readonly id: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** A new key, which nothing knows yet. */
export function generateSigningKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { id: keyId(publicKey), privateKey, publicKey }
}

/** The id of a public key. */
export function keyId(publicKey: KeyObject): string {
  const raw = Buffer.from(toKeyText(publicKey), 'base64url')
  return `key_${hash('sha256', raw, 'hex').slice(0, 32)}`
}

/** The 32 bytes of a public key, base64url. */
export function toKeyText(publicKey: KeyObject): string {
  return publicKey.export({ format: 'jwk' }).x ?? ''
}

/** The public key with these 32 bytes, base64url. Throws where they are none. */
export function fromKeyText(text: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: text }, format: 'jwk' })
}
