import { sign, verify, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { CheckpointRecord } from '../../contract/evidence.ts'
import type { Anchor } from './key-files.ts'
import type { SigningKey } from './signing-key.ts'

const signInBackground = promisify(sign)

/** A checkpoint over everything in the chain of a tenant up to this record. */
export async function signCheckpoint(
  key: SigningKey,
  covered: Anchor,
  at: number,
): Promise<CheckpointRecord> {
  const unsigned = toUnsigned({ ...covered, at, key: key.id })
  // Ed25519 has its own digest, so none is named.
  const signature = await signInBackground(null, Buffer.from(JSON.stringify(unsigned)), key.privateKey)
  return { ...unsigned, signature: signature.toString('base64url') }
}

/** Whether this is the exact text of the checkpoint, and this key signed it. */
export function isSigned(text: string, checkpoint: CheckpointRecord, publicKey: KeyObject): boolean {
  const { signature } = checkpoint
  const unsigned = toUnsigned(checkpoint)
  if (text !== JSON.stringify({ ...unsigned, signature })) return false
  return verify(null, Buffer.from(JSON.stringify(unsigned)), publicKey, Buffer.from(signature, 'base64url'))
}

/** What is signed: the JSON text of this, so that nothing in a checkpoint can be changed. */
function toUnsigned(about: Anchor & { at: number; key: string }): Omit<CheckpointRecord, 'signature'> {
  const { tenant, at, sequence, hash, key } = about
  return { kind: 'checkpoint', tenant, session: '', at, sequence, hash, key }
}
