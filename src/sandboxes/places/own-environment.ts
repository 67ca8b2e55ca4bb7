import { isInside } from '../../kit/is-inside.ts'
import type { ProfilePlaces } from './profile-places.ts'

/**
 * The environment of a command in a sandbox: a home and a place for temporary files that are there, which is the sandbox's `own` folder
 * where the roots do not hold the user's.
 */
export function ownEnvironment(
  env: Readonly<Record<string, string>>,
  { readOnly, writable }: ProfilePlaces,
  own: string,
): Record<string, string> {
  const has = (places: readonly string[], path: string | undefined): path is string =>
    path !== undefined && places.some((place) => isInside(path, place))
  const { HOME: home, TMPDIR: temporary } = env
  return {
    ...env,
    HOME: has([...readOnly, ...writable], home) ? home : own,
    TMPDIR: has(writable, temporary) ? temporary : own,
  }
}
