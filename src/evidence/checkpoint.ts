import { sign, verify, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { CheckpointRecord } from '../contract/evidence.ts'
import type { Anchor } from './key-files.ts'
import type { SigningKey } from './signing-key.ts'

const signInBackground = promisify(sign)

/** A checkpoint over everything in the chain of a tenant up to this record. */
export async function signCheckpoint(
  key: SigningKey,
  covered: Anchor,
  at: number,
): Promise<CheckpointRecord> {
  // Ed25519 has its own digest, so none is named.
  const signature = await signInBackground(null, toSignedText(covered), key.privateKey)
  const { tenant, sequence, hash } = covered
  return {
    kind: 'checkpoint',
    tenant,
    session: '',
    at,
    sequence,
    hash,
    key: key.id,
    signature: signature.toString('base64url'),
  }
}

/** Whether this key signed the checkpoint. */
export function isSignedBy(checkpoint: CheckpointRecord, publicKey: KeyObject): boolean {
  const signature = Buffer.from(checkpoint.signature, 'base64url')
  return verify(null, toSignedText(checkpoint), publicKey, signature)
}

function toSignedText({ tenant, sequence, hash }: Anchor): Buffer {
  return Buffer.from(`handrail checkpoint\n${tenant}\n${sequence}\n${hash}`)
}
