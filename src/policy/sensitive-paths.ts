import { matchPath } from '../kit/match/match-pattern.ts'

/** Paths that no call reads without asking, whatever the policy says. `~` is the home directory. */
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
  /** Globs for search to leave out, and for commands not to see. In the letter case of the patterns, as disks have it. */
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
    if (absolute.includes('/')) places.push(absolute.replace(/\/+$/, ''))
    else names.push(absolute)
  }
  const isNamed = names.map((name) => nameMatcher(name.toLowerCase()))
  const isPlaced = places.map((place) => placeMatcher(place.toLowerCase()))
  return {
    covers(path) {
      const lower = path.toLowerCase()
      if (isPlaced.some((holds) => holds(lower))) return true
      return lower.split('/').some((segment) => isNamed.some((matches) => matches(segment)))
    },
    globs: [
      ...names.flatMap((name) => [`**/${name}`, `**/${name}/**`]),
      ...places.flatMap((place) => [place, `${place}/**`]),
    ],
  }
}

/** Whether a segment has this name. A call on a folder asks of each thing in it, so names with one star are not walked letter by letter. */
function nameMatcher(name: string): (segment: string) => boolean {
  const [start = '', end, ...more] = name.split('*')
  if (more.length > 0 || name.includes('?')) return (segment) => matchPath(name, segment)
  if (end === undefined) return (segment) => segment === name
  return (segment) =>
    segment.length >= start.length + end.length && segment.startsWith(start) && segment.endsWith(end)
}

/** Whether a path is this place or lies below it. */
function placeMatcher(place: string): (path: string) => boolean {
  if (/[*?]/.test(place)) return (path) => matchPath(place, path) || matchPath(`${place}/**`, path)
  return (path) => path.startsWith(place) && (path.length === place.length || path[place.length] === '/')
}
