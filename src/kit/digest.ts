import { hash } from 'node:crypto'

/** `sha256:` and the hex digest of these bytes or this text (UTF-8). */
export function digest(data: string | Uint8Array): string {
  return `sha256:${hash('sha256', data, 'hex')}`
}

/** Link of a hash chain: sha256 hex over the previous link, a newline, and the text. The first link follows `''`. */
export function chainLink(previous: string, text: string): string {
  return hash('sha256', `${previous}\n${text}`, 'hex')
}
