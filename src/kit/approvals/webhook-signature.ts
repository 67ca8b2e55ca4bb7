import { createHmac, timingSafeEqual } from 'node:crypto'

/** Bytes of a secret, as Standard Webhooks wants them. */
const leastBytes = 24
const mostBytes = 64

/** What a request is signed over. */
export interface SignedContent {
  readonly id: string
  /** Seconds since the epoch, as its header says. */
  readonly timestamp: string
  readonly body: string | Uint8Array
}

/** The key in `whsec_…`; undefined if it is none. */
export function readWebhookSecret(text: string): Buffer | undefined {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text.trim()) ?? []
  if (encoded === undefined) return undefined
  const key = Buffer.from(encoded, 'base64')
  return key.length >= leastBytes && key.length <= mostBytes ? key : undefined
}

/** The value of the header `webhook-signature`: HMAC-SHA256 of `id.timestamp.body` in base64 (Standard Webhooks 1.0.0, "Signature scheme"). */
export function signWebhook(key: Uint8Array, content: SignedContent): string {
  return `v1,${digestOf(key, content).toString('base64')}`
}

/** Whether one of the signatures of the header is of this key. How long that takes reveals nothing about the right one. */
export function isSignedWith(key: Uint8Array, content: SignedContent, header: string): boolean {
  const wanted = digestOf(key, content)
  return header
    .split(' ')
    .slice(0, mostSignatures)
    .map((each) => each.split(','))
    .filter(([version]) => version === 'v1')
    .map(([, signature = '']) => Buffer.from(signature, 'base64'))
    .some((given) => given.length === wanted.length && timingSafeEqual(given, wanted))
}

/** One for each secret while it is exchanged. */
const mostSignatures = 16

function digestOf(key: Uint8Array, { id, timestamp, body }: SignedContent): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
}
