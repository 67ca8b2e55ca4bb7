import type { Effect } from '../../contract/policy.ts'

/** Resource patterns of a path, or why there are none. */
export type PathTranslation =
  | { patterns: readonly string[]; difference?: string }
  | { patterns: undefined; reason: string }

/** Where paths begin. */
export interface PathPlaces {
  /** What `/path` is relative to. */
  root: string
}

/**
 * Turns a path of a rule, in the manner of ignore files, into patterns of files. `//a` is absolute, `~/a` in the home directory, `/a`
 * relative to the settings, anything else to the project: anywhere in it for a rule that denies or asks, at its top for one that
 * allows. A folder stands for all below it, except for a rule that allows.
 */
export function translatePath(path: string, effect: Effect, places: PathPlaces): PathTranslation {
  const allows = effect === 'allow'
  if (path.startsWith('!')) return refuse('it takes back what another rule says, and no rule here does that')
  const loose = loosen(path)
  if (loose !== path && allows)
    return refuse('it has "\\", "[…]" or "{…}", which patterns of files do not have')
  const { base, rest } = anchor(loose, places)
  const segments = rest.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (rest.endsWith('/') || segments.length === 0) segments.push('**')
  const climbs = segments.includes('..')
  if (climbs && allows) return refuse('".." leads out of where it begins')
  const start = climbs ? '**' : !allows && base === undefined ? '{project}/**' : (base ?? '{project}')
  const inside = segments.slice(segments.lastIndexOf('..') + 1).join('/')
  const pattern = `${start}/${inside}`.replace(/^\/\//, '/').replaceAll(/\/\*\*(?:\/\*\*)+/g, '/**')
  return {
    patterns: allows ? [atLeastOne(pattern)] : withBelow(pattern),
    ...(climbs && { difference: 'it has "..", so it holds in every folder' }),
    ...(loose !== path && { difference: '"\\", "[…]" and "{…}" in it stand for any characters here' }),
  }
}

function refuse(reason: string): PathTranslation {
  return { patterns: undefined, reason }
}

/** Without what patterns of files do not have; what stands for it matches more. */
function loosen(path: string): string {
  const plain = path
    .replaceAll(/\\(.)/g, (_, letter: string) => (/[*?[{]/.test(letter) ? '?' : letter))
    .replaceAll(/\[[^\]/]+\]/g, '?')
    .replaceAll(/\{[^{}/]*\}/g, '*')
  const brace = plain.indexOf('{')
  return brace < 0 ? plain : `${plain.slice(0, plain.lastIndexOf('/', brace) + 1)}**`
}

/** Where a path begins; without a base, anywhere in the project or at its top. */
function anchor(path: string, { root }: PathPlaces): { base: string | undefined; rest: string } {
  if (path.startsWith('//')) return { base: '', rest: path.slice(2) }
  if (path === '~' || path.startsWith('~/')) return { base: '~', rest: path.slice(2) }
  if (path.startsWith('/')) return { base: root, rest: path.slice(1) }
  return { base: undefined, rest: path }
}

/** `**` stands for no segment too; below a folder is not the folder. */
function atLeastOne(pattern: string): string {
  return pattern.endsWith('/**') ? `${pattern}/*` : pattern
}

function withBelow(pattern: string): string[] {
  return pattern.endsWith('/**') ? [pattern] : [pattern, `${pattern}/**`]
}
