import { matchPath } from '../../kit/match/match-pattern.ts'

/** Where a glob that may be absolute applies, seen from a directory. */
export type LocalGlob =
  /** A glob for ripgrep, relative to the directory. */
  | { applies: 'below'; glob: string }
  /** The whole directory is matched. */
  | { applies: 'everywhere' }
  | { applies: 'nowhere' }

/**
 * Sees a glob from a directory (absolute, links resolved): an absolute one, or one below `~/`, is cut to what remains below that
 * directory; any other is taken as it is. Letter case counts only if `exactCase`.
 */
export function localGlob(
  glob: string,
  directory: string,
  { home, exactCase }: { home: string; exactCase: boolean },
): LocalGlob {
  const absolute = glob.startsWith('~/') ? home + glob.slice(1) : glob
  if (!absolute.startsWith('/')) return { applies: 'below', glob: absolute.replace(/^(?:\.\/)+/, '') }
  const fold = (text: string) => (exactCase ? text : text.toLowerCase())
  const globs = absolute.split('/').slice(1)
  const segments = directory.split('/').filter((segment) => segment !== '')
  for (const [index, segment] of segments.entries()) {
    const wanted = globs[index]
    // The glob names a directory above this one, and with it all that lies below.
    if (wanted === undefined) return { applies: 'everywhere' }
    if (wanted === '**') return { applies: 'below', glob: `/${globs.slice(index).join('/')}` }
    if (!matchPath(fold(wanted), fold(segment))) return { applies: 'nowhere' }
  }
  const rest = globs.slice(segments.length).join('/')
  return rest === '' || rest === '**' ? { applies: 'everywhere' } : { applies: 'below', glob: `/${rest}` }
}

/** A glob that matches this one name in the searched directory and nothing else. */
export function globForName(name: string): string {
  return `/${name.replace(/[\\*?[\]{}!# ]/g, String.raw`\$&`)}`
}
