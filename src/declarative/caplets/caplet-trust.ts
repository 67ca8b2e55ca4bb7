import { SetupError } from '../../contract/base/errors.ts'
import type { Caplet } from './read-caplet.ts'

/** Whose caplets are taken. */
export interface CapletTrust {
  /** Public keys of publishers, by the names that the operator gave them. */
  readonly publishers: Readonly<Record<string, string>>
  /** A package that a person looked at, and takes whether a known publisher signed it or not. */
  readonly digest?: string | undefined
}

/** The operator's name for the publisher that signed it; undefined if they name none that did. */
export function nameOfPublisher({ signed }: Caplet, { publishers }: CapletTrust): string | undefined {
  const { publisher } = signed.manifest
  if (publisher === undefined) return undefined
  return Object.entries(publishers).find(([, key]) => key === publisher)?.[0]
}

/** Throws unless the operator knows the publisher, or a person named the very package. */
export function refuseUntrusted(place: string, caplet: Caplet, trust: CapletTrust): void {
  const { digest, signed } = caplet
  if (trust.digest !== undefined && trust.digest !== digest)
    throw new SetupError(
      'untrusted_caplet',
      `"${place}" is not taken. Its digest is ${digest}, and not the one that you named. Look at it again.`,
    )
  if (trust.digest === digest || nameOfPublisher(caplet, trust) !== undefined) return
  const { publisher } = signed.manifest
  const who =
    publisher === undefined
      ? 'It is not signed.'
      : `It is signed with the key ${publisher}, which "caplets.publishers" of config.json does not name.`
  throw new SetupError(
    'untrusted_caplet',
    `"${place}" is not taken. ${who} To take this one package all the same, look at it and name its digest: ${digest}.`,
  )
}
