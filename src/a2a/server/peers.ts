import type { JWTVerifyGetKey } from 'jose'
import type { A2aPeer } from '../../contract/a2a/serving.ts'

/** A peer, and how its keys are found. */
export interface KnownPeer {
  readonly peer: A2aPeer
  readonly keys: () => Promise<JWTVerifyGetKey>
}

/** The peers that there are, by what their tokens call them. */
export function createPeers(peers: readonly A2aPeer[]): ReadonlyMap<string, KnownPeer> {
  return new Map(peers.map((peer) => [peer.issuer, { peer, keys: createKeys(peer) }]))
}

/** One set of keys for all tokens of a peer. */
function createKeys({ keys, jwksUri }: A2aPeer): () => Promise<JWTVerifyGetKey> {
  let found: Promise<JWTVerifyGetKey> | undefined
  const find = async (): Promise<JWTVerifyGetKey> => {
    const { createLocalJWKSet, createRemoteJWKSet } = await import('jose')
    if (jwksUri !== undefined) return createRemoteJWKSet(new URL(jwksUri), { timeoutDuration: 5_000 })
    return createLocalJWKSet({ keys: (keys ?? []).map((key) => ({ ...key })) })
  }
  return () => (found ??= find())
}
