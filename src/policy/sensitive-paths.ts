import { matchPath } from '../kit/match-pattern.ts'

/** Paths that nobody reads without asking, whatever the policy says. `~` is the home directory. */
export const defaultSensitivePaths: readonly string[] = [
  '~/.ssh',
  '~/.gnupg',
  '~/.aws',
  '~/.config/gcloud',
  '~/.handrail',
  '*.pem',
  '*.key',
  '.env',
  '.env.*',
]

/** Tells sensitive paths, and names the globs that find them. */
export interface SensitivePaths {
  /** Whether the path or a directory above it is sensitive. */
  covers(path: string): boolean
  /** Globs for search to leave out. */
  readonly globs: readonly string[]
}

/**
 * Compiles patterns: one without a slash names a file or directory anywhere, one with a slash an absolute path and all below it.
 * Letter case does not count, since some file systems fold it.
 */
export function compileSensitivePaths(patterns: readonly string[], home: string): SensitivePaths {
  const names: string[] = []
  const places: string[] = []
  for (const pattern of patterns) {
    const absolute = pattern.startsWith('~/') ? `${home}${pattern.slice(1)}` : pattern
    if (absolute.includes('/')) places.push(absolute.replace(/\/+$/, '').toLowerCase())
    else names.push(absolute.toLowerCase())
  }
  return {
    covers(path) {
      const lower = path.toLowerCase()
      if (places.some((place) => matchPath(place, lower) || matchPath(`${place}/**`, lower))) return true
      return lower.split('/').some((segment) => names.some((name) => matchPath(name, segment)))
    },
    globs: [
      ...names.flatMap((name) => [`**/${name}`, `**/${name}/**`]),
      ...places.flatMap((place) => [place, `${place}/**`]),
    ],
  }
}
