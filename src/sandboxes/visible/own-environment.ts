import { isInside } from '../../kit/match/is-inside.ts'
import type { ProfilePlaces } from './profile-places.ts'

/**
 * The environment of a command in a sandbox: a home and a place for temporary files that are there. Where the roots do not hold the user's, these
 * are the `home` that the program has for itself, and the sandbox's `own` folder.
 */
export function ownEnvironment(
  env: Readonly<Record<string, string>>,
  { readOnly, writable }: ProfilePlaces,
  { own, home: ownHome = own }: { own: string; home?: string | undefined },
): Record<string, string> {
  const has = (places: readonly string[], path: string | undefined): path is string =>
    path !== undefined && places.some((place) => isInside(path, place))
  const { HOME: home, TMPDIR: temporary } = env
  return {
    ...env,
    HOME: has([...readOnly, ...writable], home) ? home : ownHome,
    TMPDIR: has(writable, temporary) ? temporary : own,
  }
}
