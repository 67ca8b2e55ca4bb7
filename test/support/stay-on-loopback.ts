import { lookup as lookupName } from 'node:dns'
import { BlockList, isIP, isIPv6, Socket, type LookupFunction } from 'node:net'

/**
 * No test leaves the machine, also where what it tests is broken: a connection to anything but loopback fails before a packet is sent,
 * and says so. Loaded before every test file, which mostly
 * share a process.
 */
const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

function refusal(address: string): Error | undefined {
  if (loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) return undefined
  return new Error(`A test tried to connect to "${address}", which is not on this machine.`)
}

const checked =
  (lookup: LookupFunction): LookupFunction =>
  (host, options, callback) =>
    lookup(host, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found]
      const refused = error ?? addresses.map(refusal).find((issue) => issue !== undefined)
      callback(refused ?? null, found, family)
    })

// oxlint-disable-next-line typescript/unbound-method -- called with the socket as `this` below.
const connect = Socket.prototype.connect as (this: Socket, ...given: unknown[]) => Socket

if (connect.name !== 'connectOnLoopback') Socket.prototype.connect = connectOnLoopback

function connectOnLoopback(this: Socket, ...given: unknown[]): Socket {
  const options = toOptions(given)
  // Sockets of the file system stay on the machine.
  if (options === undefined || options.path !== undefined) return connect.apply(this, given)
  const { host = 'localhost', lookup = lookupName } = options
  const refused = isIP(host) === 0 ? undefined : refusal(host)
  if (refused !== undefined) return this.destroy(refused)
  options.lookup = checked(lookup)
  return connect.apply(this, given)
}

interface ConnectOptions {
  host?: string
  path?: string
  lookup?: LookupFunction
}

/** `net.connect` hands over its arguments as one list. */
function toOptions(given: readonly unknown[]): ConnectOptions | undefined {
  const [first, second] = Array.isArray(given[0]) ? (given[0] as unknown[]) : given
  if (typeof first === 'object' && first !== null) return first
  if (typeof first === 'string') return { path: first }
  return typeof second === 'string' ? { host: second } : undefined
}
