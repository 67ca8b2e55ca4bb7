import { SetupError } from '../../contract/base/errors.ts'
import type { WebhookEvent } from '../../contract/webhook.ts'
import { isPlainObject } from '../json/is-plain-object.ts'
import { isSignedWith, readWebhookSecret } from './webhook-signature.ts'

/** A request that came in as a webhook. */
export interface ReceivedWebhook {
  /** `whsec_…`, or all that count while one takes the place of another. */
  secret: string | readonly string[]
  /** Of a Fetch request, or of `node:http`. */
  headers:
    | { get(name: string): string | null }
    | { readonly [name: string]: string | readonly string[] | undefined }
  /** As it was received, byte for byte: parsed and written anew, it has another signature. */
  body: string | Uint8Array
  /** How old a request may be, or how far ahead. Default 300,000 (five minutes). */
  toleranceMs?: number
  /** Milliseconds since the epoch. Default: the clock of the machine. */
  now?: number
}

/** What a webhook turned out to be. */
export type VerifiedWebhook =
  | {
      readonly ok: true
      /** The same for each try: a receiver does the work of an id once. */
      readonly id: string
      readonly event: WebhookEvent
    }
  /** Why it is not to be believed. Answer with a status of 400. */
  | { readonly ok: false; readonly issue: string }

type Refused = Extract<VerifiedWebhook, { ok: false }>

/**
 * Whether a request was sent by who has the secret, a short while ago (Standard Webhooks 1.0.0). Never throws for what came in; a secret that is none
 * throws a SetupError.
 */
export function verifyWebhook(received: ReceivedWebhook): VerifiedWebhook {
  const signed = verifySignature(received)
  if (!signed.ok) return signed
  const event = parse(received.body)
  return event === undefined ? refuse('Its body is not an event as JSON.') : { ...signed, event }
}

/** The same, whatever its body says. */
export function verifySignature(received: ReceivedWebhook): { ok: true; id: string } | Refused {
  const { secret, headers, body, toleranceMs = 300_000, now = Date.now() } = received
  const keys = (typeof secret === 'string' ? [secret] : secret).map(toKey)
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    readHeader(headers, name),
  )
  if (!id || !timestamp || !signature)
    return refuse('It has not each of the headers webhook-id, webhook-timestamp and webhook-signature once.')
  if (!/^\d{1,12}$/.test(timestamp)) return refuse('Its webhook-timestamp is not a number of seconds.')
  if (!keys.some((key) => isSignedWith(key, { id, timestamp, body }, signature)))
    return refuse('Its signature is not of this secret, or the body is not as it was sent.')
  const aheadMs = Number(timestamp) * 1_000 - now
  if (Math.abs(aheadMs) > toleranceMs)
    return refuse(aheadMs < 0 ? 'It is too old: it may be one that is sent again.' : 'It is from the future.')
  return { ok: true, id }
}

function toKey(secret: string): Uint8Array {
  const key = readWebhookSecret(secret)
  if (key !== undefined) return key
  throw new SetupError(
    'invalid_options',
    'The secret of a webhook is "whsec_" and the base64 of 24 to 64 bytes. Hand in what the sender has.',
  )
}

function refuse(issue: string): Refused {
  return { ok: false, issue }
}

/** `node:http` joins a header that was sent twice. */
function readHeader(headers: ReceivedWebhook['headers'], name: string): string | undefined {
  if ('get' in headers && typeof headers.get === 'function') return headers.get(name) ?? undefined
  const value = Reflect.get(headers, name)
  return typeof value === 'string' ? value : undefined
}

/** The sender is known by here: its events have this form. */
function parse(body: string | Uint8Array): WebhookEvent | undefined {
  try {
    const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body)
    const value: unknown = JSON.parse(text)
    const isEvent = isPlainObject(value) && typeof value['type'] === 'string' && isPlainObject(value['data'])
    return isEvent ? (value as unknown as WebhookEvent) : undefined
  } catch {
    return undefined
  }
}
