import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { digest } from '../../kit/json/digest.ts'

/** The extension of an agent card that says that calls of tools are taken, and the key of what is said of them in metadata. */
export const callExtension = 'urn:handrail:a2a:call:1'

/** The `typ` of the header of a token: no other kind of JWT counts as one. */
export const tokenType = 'handrail-call+jwt'

/** With a key that both sides know, the callee could make tokens too: only signatures of a private key count. */
export const algorithms = ['EdDSA', 'Ed25519', 'ES256']

/** How long a token holds. It is made for one request, just before that. */
export const tokenSeconds = 60

/** What a token lets its bearer do, and nothing else. */
export type Claim =
  /** To call this tool with the input of this digest, once, with this idempotency key if there is one. */
  | { readonly does: 'call'; readonly tool: string; readonly input: string; readonly key?: string }
  /** To see how a task is, or to end it. */
  | { readonly does: 'get' | 'cancel'; readonly task: string }
  /** To see which tools are open to it. */
  | { readonly does: 'card' }

/** Names an input, the same on both sides. Nothing is redacted before. */
export function inputDigest(input: unknown): string {
  return digest(canonicalJson(input))
}

/** What the callee says of a call in the metadata of its task. */
export interface CallFacts {
  /** Its id of the call; absent before the call has one. */
  readonly call?: string
  /** Hash of its end record. */
  readonly record?: string
  readonly outcome?: string
  readonly error?: { readonly code: string; readonly reason: string; readonly message: string }
}
