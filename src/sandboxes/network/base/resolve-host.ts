import { lookup } from 'node:dns/promises'
import { ToolFailure } from '../../../contract/base/errors.ts'
import { beforeAbort } from '../../../kit/time/before-abort.ts'
import type { HostLookup } from './network-entry.ts'
import type { NetworkRules } from './network-rules.ts'
import { requireReachable, type Target } from './read-url.ts'

/** The resolver of the system, as every other program uses it. */
export const lookupBySystem: HostLookup = async (host) => {
  const found = await lookup(host, { all: true, order: 'verbatim' })
  return found.map(({ address }) => address)
}

/** What a name is looked up with. */
export interface LookupAbout {
  readonly lookup: HostLookup
  readonly signal: AbortSignal
}

/** All addresses of a target, each of which may be connected to. Looks a name up once. */
export async function resolveHost(
  target: Target,
  about: LookupAbout & { readonly rules: NetworkRules },
): Promise<readonly string[]> {
  const addresses = await lookUp(target, about)
  // Of an address it was told from the URL.
  if (target.literal === undefined) requireReachable(target, addresses, about.rules)
  return addresses
}

/** All addresses of a target, whatever they are. */
export async function lookUp(target: Target, { lookup, signal }: LookupAbout): Promise<readonly string[]> {
  if (target.literal !== undefined) return [target.literal]
  // A lookup of the system cannot be stopped, only left.
  const found = await beforeAbort(signal, () => findAddresses(target, lookup))
  if (found === undefined) throw signal.reason
  return found
}

async function findAddresses({ url, host }: Target, find: HostLookup): Promise<readonly string[]> {
  let found: readonly string[]
  try {
    found = await find(url.hostname)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer'
    throw notFound(host, code)
  }
  if (found.length === 0) throw notFound(host, 'no address')
  return found
}

function notFound(host: string, why: string): ToolFailure {
  return new ToolFailure({
    reason: 'host_not_found',
    message: `There is no address for the host "${host}" (${why}). Check its name.`,
  })
}
