import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { fileDigest } from '../../kit/json/digest.ts'
import type { CapletManifest, SignedCaplet } from './caplet.ts'

/** A signature counts for this purpose alone, whatever else the key signs. */
const purpose = 'handrail-caplet-v1\n'

/** What a package is known by. It covers the manifest, and by that every file. */
export function capletDigest(manifest: CapletManifest): string {
  return fileDigest(canonicalJson(manifest))
}

/** The public part of an Ed25519 key, as manifests and configurations name it. */
export function publisherOf(key: KeyObject): string {
  return createPublicKey(key).export({ format: 'jwk' }).x ?? ''
}

/** The manifest with its publisher and their signature. */
export function signManifest(manifest: CapletManifest, key: KeyObject): SignedCaplet {
  const signed = { ...manifest, publisher: publisherOf(key) }
  return { manifest: signed, signature: sign(null, bytesOf(signed), key).toString('base64url') }
}

/** Whether the publisher that the manifest names signed it as it is. */
export function isSignedByPublisher({ manifest, signature }: SignedCaplet): boolean {
  if (manifest.publisher === undefined || signature === undefined) return false
  try {
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: manifest.publisher },
      format: 'jwk',
    })
    return verify(null, bytesOf(manifest), key, Buffer.from(signature, 'base64url'))
  } catch {
    return false
  }
}

function bytesOf(manifest: CapletManifest): Buffer {
  return Buffer.from(purpose + canonicalJson(manifest))
}
