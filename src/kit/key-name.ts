/** As many characters of a digest as it takes to tell keys, and the inputs of one key, apart: 132 bits. */
export function shortName(digest: string): string {
  return digest.slice(0, 22)
}

/** What stands for an idempotency key: the keyed digest of the key and of the actor who gave it. */
export function keyName(actor: string, key: string, digest: (text: string) => string): string {
  return shortName(digest(JSON.stringify([actor, key])))
}
