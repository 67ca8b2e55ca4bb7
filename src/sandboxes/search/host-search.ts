import { lstatSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import type { Search, SearchHit, SearchRequest } from '../../contract/services/sandbox.ts'
import { outsideRoots, wrongKind } from '../files/file-failure.ts'
import { findRipgrep } from './find-ripgrep.ts'
import type { PathHandle } from '../files/path-handle.ts'
import { openPath } from '../files/open-path.ts'
import { locateExisting } from '../files/locate.ts'
import type { Reach } from '../files/reach.ts'
import { isAlias } from '../files/refuse-alias.ts'
import { byPath, hitsIn, splitFiles, type FoundFile } from './read-ripgrep-output.ts'
import { ripgrepArguments, type RipgrepSearch } from './ripgrep-arguments.ts'
import { invalidPattern, runRipgrep } from './run-ripgrep.ts'
import { globForName, localGlob } from './search-globs.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import { kindOf } from '../files/to-file-stat.ts'

type Found = Awaited<ReturnType<Search['find']>>

/** Up to so much output is collected from ripgrep's parallel search and sorted here. */
const maxCollectedBytes = 8 * 1024 * 1024
const maxPatternBytes = 64 * 1024

/**
 * Search inside the readable roots. Hits come in path order, name by name, lines in file order; a limit takes the first ones of
 * that order, however many threads searched: the output of the parallel search is sorted afterwards, and where it is more than
 * 8 MiB, ripgrep searches again in path order and is ended at the limit. Order `mtime` is ripgrep's own.
 *
 * Left out: what ignore files name (except when the path is a file), `.git`, binary files, files over 256 MiB. A path that is a file
 * is searched whatever `glob` says, but not where `exclude` says no. `multiline` lets `.` match line ends.
 * ripgrep walks by name: a process that swaps directories for links while it runs could lead it outside. Only a backend with
 * isolation of its own promises more.
 */
export function createHostSearch(reach: Reach): Search {
  return { find: (request) => find(reach, request) }
}

async function find(reach: Reach, request: SearchRequest): Promise<Found> {
  checkText(request)
  using root = openSearchRoot(reach, request.path)
  const search = toSearch(reach, request, root)
  if (search === undefined) return { hits: [], truncated: false }
  const path = reach.env['PATH'] ?? ''
  const run = {
    program: await findRipgrep(path),
    cwd: root.directory.self,
    path,
    signals: reach.signals(),
    launcher: reach.launcher,
  }
  const found = await collect(search, request, run)
  const files = request.pattern === undefined ? found : await withoutAliases(reach, found, root.directory)
  return toHits(files, { reach, request, search, directory: root.directory.real })
}

function checkText({ pattern, glob, type }: SearchRequest): void {
  for (const text of [pattern, glob, type])
    if (text !== undefined && (text.includes('\0') || Buffer.byteLength(text) > maxPatternBytes))
      throw invalidPattern('the text contains a NUL byte or is longer than 65,536 bytes.')
  if (glob?.trim() === '') throw invalidPattern('the glob is empty.')
}

/** The directory to search in and, where only one file of it is meant, its name. */
interface SearchRoot extends Disposable {
  readonly directory: PathHandle
  readonly file: string | undefined
}

function openSearchRoot(reach: Reach, path: string): SearchRoot {
  const held = locateExisting(reach, path)
  if (held.stat.isDirectory())
    return { directory: held, file: undefined, [Symbol.dispose]: () => held[Symbol.dispose]() }
  using file = held
  if (!file.stat.isFile()) throw wrongKind(path, kindOf(file.stat), 'file')
  const parent = openPath(dirname(file.real))
  // The directory stays what it was when the file in it was found to lie inside the roots.
  if (join(parent.real, basename(file.real)) === file.real)
    return { directory: parent, file: basename(file.real), [Symbol.dispose]: () => parent[Symbol.dispose]() }
  parent[Symbol.dispose]()
  throw outsideRoots(path, 'read')
}

/** Undefined if the globs leave nothing to search. */
function toSearch(reach: Reach, request: SearchRequest, root: SearchRoot): RipgrepSearch | undefined {
  const { directory, file } = root
  const exclude: string[] = []
  for (const glob of request.exclude) {
    const local = localGlob(glob, directory.real, { home: reach.home, exactCase: false })
    if (local.applies === 'everywhere') return undefined
    if (local.applies === 'below') exclude.push(local.glob)
  }
  return {
    ...request,
    mode: request.pattern === undefined ? 'list' : request.mode,
    include: file === undefined ? includeGlob(reach, request.glob, directory.real) : globForName(file),
    exclude,
    flat: file !== undefined,
  }
}

/** A glob for everything would make ripgrep take files that ignore files leave out. */
function includeGlob(reach: Reach, glob: string | undefined, directory: string): string | undefined {
  if (glob === undefined) return undefined
  const local = localGlob(glob, directory, { home: reach.home, exactCase: true })
  // An absolute glob from elsewhere may still be meant from here: `/src/*.ts`.
  if (local.applies === 'nowhere') return glob
  if (local.applies === 'everywhere' || /^(?:\*+|\/?\*\*(?:\/\*\*)*(?:\/\*)?)$/.test(local.glob))
    return undefined
  return local.glob.startsWith('#') ? `\\${local.glob}` : local.glob
}

type Runner = Omit<Parameters<typeof runRipgrep>[0], 'arguments' | 'enough'>

/** Files in the order asked for; at least as many as make up the limit. */
async function collect(search: RipgrepSearch, request: SearchRequest, run: Runner): Promise<FoundFile[]> {
  if (request.order !== 'mtime') {
    let bytes = 0
    const { output, cut } = await runRipgrep({
      ...run,
      arguments: ripgrepArguments(search, []),
      enough: (chunk) => (bytes += chunk.length) > maxCollectedBytes,
    })
    if (!cut) return splitFiles(output, search.mode).sort(byPath)
  }
  const sort = request.order === 'mtime' ? '--sortr=modified' : '--sort=path'
  const { output } = await runRipgrep({
    ...run,
    arguments: ripgrepArguments(search, [sort]),
    enough: enoughFor(request.limit, search.mode),
  })
  return splitFiles(output, search.mode)
}

/** Whether the output so far holds more hits than the limit: a file has one name, a hit at most five line ends around it. */
function enoughFor(limit: number, mode: RipgrepSearch['mode']): (chunk: Buffer) => boolean {
  const end = mode === 'content' ? 10 : 0
  const needed = mode === 'content' ? 5 * (limit + 2) : limit + 2
  let ends = 0
  return (chunk) => {
    for (let at = chunk.indexOf(end); at >= 0; at = chunk.indexOf(end, at + 1)) ends++
    return ends > needed
  }
}

/** Without those whose text a search must not show under any name. */
async function withoutAliases(
  reach: Reach,
  files: readonly FoundFile[],
  { self, real }: PathHandle,
): Promise<readonly FoundFile[]> {
  const kept: FoundFile[] = []
  for (const file of files) {
    const stat = lstatSync(join(self, file.path), { throwIfNoEntry: false })
    if (
      stat === undefined ||
      stat.nlink < 2 ||
      !(await isAlias(reach, { real: join(real, file.path), stat }))
    )
      kept.push(file)
  }
  return kept
}

function toHits(
  files: readonly FoundFile[],
  about: { reach: Reach; request: SearchRequest; search: RipgrepSearch; directory: string },
): Found {
  const { reach, request, search, directory } = about
  const project = reach.realProject()
  const hits: SearchHit[] = []
  let bytes = 0
  for (const file of files) {
    const absolute = join(directory, file.path)
    const path = isInside(absolute, project) ? relative(project, absolute) : absolute
    for (const hit of hitsIn(file, path, search.mode)) {
      bytes += path.length + (hit.text?.length ?? 0)
      if (hits.length >= request.limit || bytes > reach.limits.searchBytes) return { hits, truncated: true }
      hits.push(hit)
    }
  }
  return { hits, truncated: false }
}
