import { isIP } from 'node:net'

/** A part of the own network that may be reached: hosts by a pattern of names, or a range of addresses. */
export type PrivateHost = { readonly port: number | undefined } & (
  | { readonly kind: 'name'; readonly pattern: string }
  | { readonly kind: 'range'; readonly address: string; readonly prefix: number; readonly family: 4 | 6 }
)

/** Reads `name`, `*.name`, an address or `address/prefix`, each with or without `:port`; undefined if it is none of these. */
export function readPrivateHost(text: string): PrivateHost | undefined {
  if (isIP(text) === 6) return toRange(text, undefined, undefined)
  const [, bracketed, bare, prefix, port] =
    /^(?:\[([^\]]+)\]|([^[\]:/]+|[^[\]/]+(?=\/)))(?:\/(\d{1,3}))?(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? bare
  const number = port === undefined ? undefined : Number(port)
  if (host === undefined || number === 0 || (number ?? 0) > 65_535) return undefined
  if (isIP(host) !== 0) return toRange(host, prefix, number)
  if (bracketed !== undefined || prefix !== undefined || !isNamePattern(host)) return undefined
  return { kind: 'name', pattern: host.toLowerCase(), port: number }
}

function toRange(
  address: string,
  prefix: string | undefined,
  port: number | undefined,
): PrivateHost | undefined {
  const family = isIP(address) === 6 ? 6 : 4
  const bits = family === 6 ? 128 : 32
  const length = prefix === undefined ? bits : Number(prefix)
  return length > bits ? undefined : { kind: 'range', address, prefix: length, family, port }
}

/** `*` alone would be the whole of the own network by any name. */
function isNamePattern(host: string): boolean {
  return /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(host) && !/^\d+(\.\d+)*$/.test(host)
}
