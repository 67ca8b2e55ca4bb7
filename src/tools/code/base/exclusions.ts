import { matchPath } from '../../../kit/match/match-pattern.ts'

/**
 * The globs that a listing or search of `target` leaves out: all of the sensitive ones but those that cover the target itself,
 * which the person was asked about by name.
 */
export function exclusionsFor(target: string, sensitiveGlobs: readonly string[]): string[] {
  return sensitiveGlobs.filter((glob) => !covers(glob, target))
}

/** Whether one of the globs covers the absolute path. Letter case does not count. */
export function isExcluded(path: string, globs: readonly string[]): boolean {
  return globs.some((glob) => covers(glob, path))
}

/** A glob covers what it matches, and all that lies below. */
function covers(glob: string, path: string): boolean {
  const [pattern, lower] = [glob.toLowerCase(), path.toLowerCase()]
  return matchPath(pattern, lower) || matchPath(`${pattern}/**`, lower)
}
