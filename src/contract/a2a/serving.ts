import type { CallerIdentity } from '../base/caller-identity.ts'

/** `a2a` of `gateway.json`: the tools that other domains may call, and who they are. */
export interface A2aServing {
  /** The URL under which peers know this endpoint: what their tokens must be made for. Default: `/a2a` where MCP is served. */
  url?: string
  /** As the agent card says it. Default `Handrail`. */
  name?: string
  /** As the agent card says it. */
  description?: string
  /** Patterns of the tools that are open to peers. No other can be called. */
  tools: readonly string[]
  /** Who may call. */
  peers: readonly A2aPeer[]
}

/** Another domain whose calls are taken, and whom they are made for here. */
export interface A2aPeer extends Omit<CallerIdentity, 'model'> {
  /** The `iss` of its tokens. */
  issuer: string
  /** Its public keys (RFC 7517). A token names one of them with its `kid`. */
  keys?: readonly PublicKey[]
  /** Where its public keys are, in the place of `keys`: a JWK set. */
  jwksUri?: string
}

/** A public key as RFC 7517 and RFC 8037 write it: Ed25519, or ECDSA on P-256. */
export interface PublicKey {
  kty: 'OKP' | 'EC'
  crv: 'Ed25519' | 'P-256'
  kid: string
  x: string
  y?: string
  alg?: string
  use?: string
}

/** A key that signs tokens. Its public half has the same `kid`. */
export interface PrivateKey extends PublicKey {
  d: string
}
