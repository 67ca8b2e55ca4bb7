import { isAbsolute, join } from 'node:path'
import { ToolFailure, type CallError } from '../../contract/base/errors.ts'
import type { Operation } from '../../contract/tool/plan.ts'
import type { Files, Search, SearchHit } from '../../contract/services/sandbox.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { toCallError } from '../state/to-call-error.ts'

/** Within what a tool declares of files: how many one call opens or is told of, and how far it goes down by itself. */
export interface FileBounds {
  readonly definition: Pick<ToolDefinition, 'name' | 'limits'>
  readonly project: string
}

/** The files of one call. Each that is read or written counts once; listings and trees reach no deeper than the tool declares. */
export function boundFiles(files: Files, { definition, project }: FileBounds): Files {
  const { maxFiles, maxDepth } = definition.limits
  const opened = new Set<string>()
  const open = (path: string): void => {
    const whole = isAbsolute(path) ? path : join(project, path)
    if (opened.size >= maxFiles && !opened.has(whole)) throw tooMany(definition)
    opened.add(whole)
  }
  const within = <Given extends { maxEntries: number; maxDepth: number }>(given: Given): Given => ({
    ...given,
    maxEntries: Math.min(given.maxEntries, maxFiles),
    maxDepth: Math.min(given.maxDepth, maxDepth),
  })
  return {
    resolve: (path, purpose) => files.resolve(path, purpose),
    resolveEntry: (path, purpose) => files.resolveEntry(path, purpose),
    stat: (path) => files.stat(path),
    async read(path, options) {
      open(path)
      return files.read(path, options)
    },
    chunks(path) {
      open(path)
      return files.chunks(path)
    },
    list: (path, options) =>
      files.list(path, { ...options, maxDepth: Math.min(options.maxDepth ?? maxDepth, maxDepth) }),
    async write(path, bytes, options) {
      open(path)
      return files.write(path, bytes, options)
    },
    survey: (path, options) => files.survey(path, within(options)),
    copy: (from, to, options) => files.copy(from, to, within(options)),
    move: (from, to, options) => files.move(from, to, within(options)),
    remove: (path, options) => files.remove(path, within(options)),
    async state(path) {
      open(path)
      return files.state(path)
    },
    async restore(effects, content) {
      for (const { path } of effects) open(path)
      return files.restore(effects, content)
    },
  }
}

/** The search of one call: it tells of no more files, and looks no deeper, than the tool declares. */
export function boundSearch(search: Search, { definition }: FileBounds): Search {
  const { maxFiles, maxDepth } = definition.limits
  return {
    async find(request) {
      const isOfFiles = request.mode !== 'content'
      const limit = isOfFiles ? Math.min(request.limit, maxFiles) : request.limit
      const depth = Math.min(request.maxDepth ?? maxDepth, maxDepth)
      const { hits, truncated } = await search.find({ ...request, limit, maxDepth: depth })
      const first = isOfFiles ? hits : ofFirstFiles(hits, maxFiles)
      return { hits: first, truncated: truncated || first.length < hits.length }
    },
  }
}

/** Hits of one file stand together. */
function ofFirstFiles(hits: SearchHit[], most: number): SearchHit[] {
  let files = 0
  const end = hits.findIndex(({ path }, index) => path !== hits[index - 1]?.path && ++files > most)
  return end === -1 ? hits : hits.slice(0, end)
}

/** Why a plan that names more files than its tool may open goes no further. */
export function findFileLimit(
  definition: ToolDefinition,
  operations: readonly Operation[],
): CallError | undefined {
  if (operations.length <= definition.limits.maxFiles) return undefined
  const paths = new Set(operations.flatMap((each) => ('path' in each ? [each.path] : [])))
  return paths.size > definition.limits.maxFiles
    ? toCallError(tooMany(definition), definition.name)
    : undefined
}

function tooMany({ name, limits }: FileBounds['definition']): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'file_limit',
    message: `"${name}" may read or write ${limits.maxFiles} ${limits.maxFiles === 1 ? 'file' : 'files'} in one call (limits.maxFiles of its manifest), and reached for more. Ask for less at a time.`,
    data: { maxFiles: limits.maxFiles },
  })
}
