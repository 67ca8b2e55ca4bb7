import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isInside } from '../../kit/match/is-inside.ts'
import { matchPath } from '../../kit/match/match-pattern.ts'
import { findRipgrep } from '../search/find-ripgrep.ts'
import { runRipgrep } from '../search/run-ripgrep.ts'
import type { Launcher } from '../programs/launcher/create-launcher.ts'
import { localGlob, type LocalGlob } from '../search/search-globs.ts'
import { walkLarge, walkSmall, type Walked } from './walk-small.ts'

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
/** Stands for the bytes of a name that are no text. */
const unwritable = '\ufffd'

/** Everything that the globs name in these places, in hidden and ignored folders too, and every folder that cannot be looked into. */
export async function findHiddenPlaces(request: HiddenRequest): Promise<HiddenPlaces> {
  const { home, globs } = request
  // What lies below a plain path is hidden with it, and a glob for all that lies below one names it too.
  const tops = globs.map((glob) => glob.replace(/\/\*\*$/, ''))
  const named = tops.map((top) => (isPlain(top) ? lookAt(toAbsolute(top, home)) : []))
  // One that is not there may be there in other letter case.
  const searched = globs.filter((_, index) => named[index]?.length === 0)
  const found = await Promise.all(request.places.map((place) => search(place, searched, request)))
  const all = [...named.flat(), ...[...new Set(found.flat())].flatMap((path) => lookAt(path))]
  const folders = [...new Set(all.filter(({ isFolder }) => isFolder).map(({ path }) => path))]
  const isAlone = (path: string, others: readonly string[]) =>
    !others.some((folder) => folder !== path && isInside(path, folder))
  // What lies in a hidden folder is hidden with it.
  const files = all.filter(({ path, isFolder }) => !isFolder && isAlone(path, folders))
  return {
    files: [...new Set(files.map(({ path }) => path))],
    folders: folders.filter((path) => isAlone(path, folders)),
  }
}

async function search(place: string, globs: readonly string[], request: HiddenRequest): Promise<string[]> {
  const { home } = request
  const local = globs.map((glob) => localGlob(glob, place, { home, exactCase: false }))
  if (local.some(({ applies }) => applies === 'everywhere')) return [place]
  const wanted = local.flatMap((glob) => (glob.applies === 'below' ? [`--iglob=${glob.glob}`] : []))
  if (wanted.length === 0) return []
  const small = walkSmall(place, maxWalked)
  const found = small === undefined ? await askRipgrep(place, wanted, request) : undefined
  const { files, closed } = found ?? ofThese(small ?? (await walkLarge(place)), matcherOf(local))
  return [...files, ...closed].map((name) => join(place, name))
}

function ofThese({ files, closed }: Walked, named: (path: string) => boolean): Walked {
  return { files: files.filter(named), closed }
}

/** The named files and the closed folders; undefined if it says something else than which folders it may not look into. */
async function askRipgrep(
  place: string,
  wanted: readonly string[],
  { path, signals, launcher }: HiddenRequest,
): Promise<Walked | undefined> {
  const { output, message } = await runRipgrep({
    program: await findRipgrep(path),
    arguments: ['--no-config', '--no-follow', '--no-ignore', '--hidden', '--null', '--files', ...wanted],
    cwd: place,
    path,
    signals,
    launcher,
    enough: () => false,
    tolerant: true,
  })
  const closed = message === '' ? [] : closedIn(message)
  const files = output.toString().split('\0').filter(Boolean)
  return closed && { files, closed }
}

/** The folders that ripgrep says it may not look into; undefined if that cannot be told for sure. */
function closedIn(message: string): string[] | undefined {
  const closed: string[] = []
  for (const line of message.trimEnd().split(/\n(?=rg: )/)) {
    const [, path, error] = /^rg: ([^]+): [^\n]* \(os error (\d+)\)$/.exec(line) ?? []
    if (path === undefined) return undefined
    // Others are gone, or no folders any more.
    if (error === '13' || error === '1') closed.push(path)
  }
  return closed
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

/**
 * What is there to hide: the path itself, or the folder above it that cannot be looked into, or whose name cannot be written. Nothing if nothing is
 * there.
 */
function lookAt(path: string): { path: string; isFolder: boolean }[] {
  const above = dirname(path)
  if (path.includes(unwritable)) return above === path ? [] : lookAt(above)
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    return stat === undefined ? [] : [{ path, isFolder: stat.isDirectory() }]
  } catch {
    return above === path ? [] : lookAt(above)
  }
}
