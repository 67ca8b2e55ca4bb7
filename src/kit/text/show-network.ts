import type { Json } from '../../contract/base/json.ts'
import type { CommandNetwork } from '../../contract/services/sandbox.ts'

/** What a command asked of the network, as facts for a result or a record. None if it could ask for nothing. */
export function networkFacts(network: CommandNetwork | undefined): { network?: { [key: string]: Json } } {
  if (network === undefined) return {}
  const { reached, refused } = network
  return {
    network: { reached: [...reached], refused: refused.map(({ host, reason }) => ({ host, reason })) },
  }
}

/** What a command was not connected to, in one line. */
export function describeRefused({ refused }: CommandNetwork): string {
  const shown = refused.slice(0, 10).map(({ host, reason }) => `${host} (${reason})`)
  const more = refused.length > shown.length ? `, and ${refused.length - shown.length} more` : ''
  return `Not reached: ${shown.join(', ')}${more}`
}
