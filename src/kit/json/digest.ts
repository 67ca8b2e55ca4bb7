import { hash } from 'node:crypto'

/**
 * SHA-256 of this text (UTF-8), as 43 letters of base64url: what names a definition, a policy, an input, a result. Files and
 * artifacts have a `fileDigest`.
 */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** `sha256:` and the 64 hex digits that `sha256sum` prints for a file with these bytes. */
export function fileDigest(data: string | Uint8Array): string {
  return `sha256:${hash('sha256', data, 'hex')}`
}

/** Link of a hash chain: sha256 hex over the previous link, a newline, and the text. The first link follows `''`. */
export function chainLink(previous: string, text: string): string {
  return linkText(previous, text).hash
}

/**
 * The same, and the text once more: as one piece of memory, which the hash made of it, however many it was put together from. What is kept long is
 * moved by each collection of garbage.
 */
export function linkText(previous: string, text: string): { hash: string; text: string } {
  const linked = `${previous}\n${text}`
  return { hash: hash('sha256', linked, 'hex'), text: linked.slice(linked.length - text.length) }
}
