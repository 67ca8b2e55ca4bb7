import ipaddr from 'ipaddr.js'

/** What an address is reserved for, in the words of the registries; `provider` for one that a cloud keeps for itself. */
export type Reservation =
  | 'loopback'
  | 'private'
  | 'uniqueLocal'
  | 'carrierGradeNat'
  | 'linkLocal'
  | 'unspecified'
  | 'multicast'
  | 'broadcast'
  | 'provider'
  | 'reserved'
  | 'no address'

const told: readonly Reservation[] = [
  'loopback',
  'private',
  'uniqueLocal',
  'carrierGradeNat',
  'linkLocal',
  'unspecified',
  'multicast',
  'broadcast',
]

/** Public by its number, and answered by the machine's own host: the wire server of Azure. */
const providers: readonly string[] = ['168.63.129.16']

/** RFC 6052: what a translator to IPv4 answers for. It goes where the IPv4 address in it leads. */
const translated = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** RFC 4291: all that is assigned to anybody as global unicast. */
const global = ipaddr.IPv6.parseCIDR('2000::/3')
/** RFC 2928: protocols of their own, tunnels among them. */
const protocols = ipaddr.IPv6.parseCIDR('2001::/23')

/** Why an address is not one of the public internet; undefined if it is. Whatever holds an IPv4 address inside is judged by that one, or not let through. */
export function findReservation(address: string): Reservation | undefined {
  const parsed = parse(address)
  if (parsed === undefined) return 'no address'
  if (parsed instanceof ipaddr.IPv4) return findIn4(parsed)
  if (parsed.match(translated)) return findIn4(new ipaddr.IPv4(parsed.toByteArray().slice(12)))
  const range = parsed.range()
  if (range !== 'unicast') return toReservation(range)
  return parsed.match(global) && !parsed.match(protocols) ? undefined : 'reserved'
}

function findIn4(address: ipaddr.IPv4): Reservation | undefined {
  if (providers.includes(address.toString())) return 'provider'
  const range = address.range()
  return range === 'unicast' ? undefined : toReservation(range)
}

function toReservation(range: string): Reservation {
  return told.find((each) => each === range) ?? 'reserved'
}

/** Whether an address lies in a range of its own family; an IPv4 address that is written as IPv6 counts as IPv4. */
export function isInRange(
  address: string,
  range: { address: string; prefix: number; family: 4 | 6 },
): boolean {
  const parsed = parse(address)
  const base = ipaddr.parse(range.address)
  if (parsed instanceof ipaddr.IPv4 && base instanceof ipaddr.IPv4) return parsed.match(base, range.prefix)
  if (parsed instanceof ipaddr.IPv6 && base instanceof ipaddr.IPv6) return parsed.match(base, range.prefix)
  return false
}

/** One text for one address, however it is written. */
export function normaliseAddress(address: string): string {
  return parse(address)?.toNormalizedString() ?? address
}

/** Strictly in the usual notation: a resolver or a URL parser has made it, so anything else is none. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const strict = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
  return strict ? ipaddr.process(address) : undefined
}
