import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { isInside } from '../../kit/is-inside.ts'
import { matchPath } from '../../kit/match-pattern.ts'
import { findRipgrep } from '../host/find-ripgrep.ts'
import { runRipgrep } from '../host/run-ripgrep.ts'
import type { Launcher } from '../launcher/create-launcher.ts'
import { localGlob, type LocalGlob } from '../host/search-globs.ts'
import { walkSmall } from './walk-small.ts'

/** What is there but must not be seen. */
export interface HiddenPlaces {
  readonly files: readonly string[]
  readonly folders: readonly string[]
}

/** Where to look for what these globs name. */
export interface HiddenRequest {
  readonly globs: readonly string[]
  /** Directories with links resolved. */
  readonly places: readonly string[]
  readonly home: string
  /** The PATH variable, to find ripgrep. */
  readonly path: string
  readonly signals: readonly AbortSignal[]
  /** What starts ripgrep; default this process itself. */
  readonly launcher?: Launcher | undefined
}

/** Folders with more entries than this are searched by ripgrep; starting that costs more than looking at fewer. */
const maxWalked = 500

/** Everything that the globs name in these places, in hidden and ignored folders too. */
export async function findHiddenPlaces(request: HiddenRequest): Promise<HiddenPlaces> {
  const { home, globs } = request
  // What lies below a plain path is hidden with it, and a glob for all that lies below one names it too.
  const tops = globs.map((glob) => glob.replace(/\/\*\*$/, ''))
  const named = tops.filter((top) => isPlain(top)).flatMap((top) => lookAt(toAbsolute(top, home)))
  const searched = globs.filter((_, index) => !isPlain(tops[index] ?? ''))
  const found = await Promise.all(request.places.map((place) => search(place, searched, request)))
  const all = [...new Set([...named, ...found.flat()])]
  const folders = all.filter((path) => isFolder(path))
  // What lies in a hidden folder is hidden with it.
  const files = all.filter((path) => !isFolder(path) && !folders.some((folder) => isInside(path, folder)))
  return { files, folders }
}

async function search(place: string, globs: readonly string[], request: HiddenRequest): Promise<string[]> {
  const { home, path, signals, launcher } = request
  const local = globs.map((glob) => localGlob(glob, place, { home, exactCase: false }))
  if (local.some(({ applies }) => applies === 'everywhere')) return [place]
  const wanted = local.flatMap((glob) => (glob.applies === 'below' ? [`--iglob=${glob.glob}`] : []))
  if (wanted.length === 0) return []
  const small = walkSmall(place, maxWalked)
  if (small !== undefined) {
    const named = matcherOf(local)
    return small.filter((name) => named(name)).map((name) => join(place, name))
  }
  const { output } = await runRipgrep({
    program: await findRipgrep(path),
    arguments: [
      '--no-config',
      '--no-follow',
      '--no-messages',
      '--no-ignore',
      '--hidden',
      '--null',
      '--files',
      ...wanted,
    ],
    cwd: place,
    path,
    signals,
    launcher,
    enough: () => false,
  })
  return output
    .toString()
    .split('\0')
    .filter((name) => name !== '')
    .map((name) => join(place, name))
}

/** Whether a path relative to the searched folder is named, without regard to letter case. A glob without a slash names it at any depth. */
function matcherOf(globs: readonly LocalGlob[]): (path: string) => boolean {
  const below = globs.flatMap((glob) => (glob.applies === 'below' ? [glob.glob.toLowerCase()] : []))
  const whole = below.map((glob) => (glob.includes('/') ? glob.replace(/^\//, '') : `**/${glob}`))
  return (path) => whole.some((glob) => matchPath(glob, path.toLowerCase()))
}

function isPlain(glob: string): boolean {
  return /^(?:\/|~\/)/.test(glob) && !/[*?[\]{}]/.test(glob)
}

function toAbsolute(glob: string, home: string): string {
  return glob.startsWith('~/') ? join(home, glob.slice(2)) : glob
}

function lookAt(path: string): string[] {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined ? [] : [path]
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
