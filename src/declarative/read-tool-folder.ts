import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Issue, JsonObject } from '../contract/base/json.ts'
import { isJsonObject } from '../kit/json/is-json-object.ts'
import { parseWrittenJson } from '../kit/json/parse-written-json.ts'
import type { Tool } from '../contract/tool/tool.ts'
import { parseComposition } from './parse-composition.ts'
import { parseToolFile } from './parse-tool-file.ts'
import { readToolFile } from './read-tool-file.ts'
import { toTool, type DeclaringContext } from './to-tool.ts'

/** A file that is a tool. */
export interface DeclaredTool {
  /** Absolute path of the file. */
  readonly path: string
  readonly text: string
  readonly tool: Tool
}

/** A file that is none, and all that is wrong with it. */
export interface FaultyFile {
  readonly path: string
  /** Undefined if the file could not be read. */
  readonly text: string | undefined
  readonly issues: readonly Issue[]
}

/** What lies in a folder of tools. */
export interface ToolFolder {
  /** In the order of their file names, one of each name. */
  readonly tools: readonly DeclaredTool[]
  readonly faulty: readonly FaultyFile[]
}

/** Reads every `*.json` of a folder. One that is at fault spoils no other. A folder that is not there holds nothing. */
export function readToolFolder(folder: string, declaring: DeclaringContext): ToolFolder {
  const listed = listToolFiles(folder)
  if ('issues' in listed) return { tools: [], faulty: [listed] }
  return readTools(listed.paths, declaring)
}

/** The same of these files. */
export function readTools(paths: readonly string[], declaring: DeclaringContext): ToolFolder {
  const read = paths.map((path) => readTool(path, declaring))
  return refuseDuplicates(compose(read, declaring))
}

/** Makes tools of the files that are compositions, once those are there that they are made of. */
function compose(
  read: readonly (DeclaredTool | FaultyFile | CompositionText)[],
  { checker, known }: DeclaringContext,
): (DeclaredTool | FaultyFile)[] {
  const all = new Map(known)
  for (const each of read) if ('tool' in each) all.set(each.tool.definition.name, each.tool)
  let open = read.filter((each) => 'value' in each)
  const made = new Map<string, DeclaredTool | FaultyFile>()
  for (let before = -1; open.length > 0 && before !== open.length;) {
    before = open.length
    open = open.filter(({ path, text, value }) => {
      const parsed = parseComposition(value, { checker, known: all })
      made.set(path, { path, text, ...parsed })
      if ('issues' in parsed) return true
      all.set(parsed.tool.definition.name, parsed.tool)
      return false
    })
  }
  return read.flatMap((each) => {
    const done = 'value' in each ? made.get(each.path) : each
    return done === undefined ? [] : [done]
  })
}

/** The paths of the files of a folder that should be tools, in order. */
export function listToolFiles(folder: string): { paths: readonly string[] } | FaultyFile {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    return { paths: names.sort().map((name) => join(folder, name)) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    if (code === 'ENOENT' && lstatSync(folder, { throwIfNoEntry: false }) === undefined) return { paths: [] }
    const message =
      code === 'ENOENT'
        ? 'The link leads nowhere. Put back what it leads to, or remove the link.'
        : `The folder of tools cannot be read (${code}). Mend its permissions or remove it.`
    return { path: folder, text: undefined, issues: [{ pointer: '', code: 'unreadable', message }] }
  }
}

/** A file that is a composition, and not made yet. */
interface CompositionText {
  readonly path: string
  readonly text: string
  readonly value: JsonObject
}

/** One file as a tool, or all that is wrong with it. */
function readTool(path: string, declaring: DeclaringContext): DeclaredTool | FaultyFile | CompositionText {
  const read = readToolFile(path)
  if ('issue' in read)
    return { path, text: undefined, issues: [{ pointer: '', code: 'unreadable', message: read.issue }] }
  const { text } = read
  const written = parseWrittenJson(text)
  if ('value' in written && isJsonObject(written.value) && 'parts' in written.value)
    return { path, text, value: written.value }
  const parsed = parseToolFile(text, declaring.checker)
  return 'issues' in parsed
    ? { path, text, issues: parsed.issues }
    : { path, text, tool: toTool(parsed.file, path, declaring) }
}

/** The first file of a name has it, by the order of file names, so that what a folder says does not hang on when it was read. */
function refuseDuplicates(read: readonly (DeclaredTool | FaultyFile)[]): ToolFolder {
  const tools = new Map<string, DeclaredTool>()
  const faulty: FaultyFile[] = []
  for (const each of read) {
    if ('issues' in each) {
      faulty.push(each)
      continue
    }
    const { name } = each.tool.definition
    const first = tools.get(name)
    if (first === undefined) tools.set(name, each)
    else {
      const message = `"${name}" is declared by "${first.path}" already. Rename one of them.`
      const { path, text } = each
      faulty.push({ path, text, issues: [{ pointer: '/name', code: 'duplicate_tool', message }] })
    }
  }
  return { tools: [...tools.values()], faulty }
}

/** A faulty file in words, every issue with its pointer. */
export function describeIssues({ path, issues }: FaultyFile): string {
  const all = issues.map(({ pointer, message }) => `${pointer === '' ? '/' : pointer}: ${message}`)
  return `"${path}" is left out, the other files are not. ${all.join(' ')}`
}
