import { dirname } from 'node:path'
import { messageOf } from '../kit/text/message-of.ts'
import { watchFiles } from '../kit/watch-files.ts'
import { canonicalJson } from '../kit/json/canonical-json.ts'
import {
  describeIssues,
  listToolFiles,
  readToolFolder,
  type DeclaredTool,
  type FaultyFile,
  type ToolFolder,
} from './read-tool-folder.ts'
import type { DeclaringContext } from './to-tool.ts'

/** What became of a folder of tools. */
export interface FolderChange {
  /** New and changed ones. */
  readonly tools: readonly DeclaredTool[]
  /** Names of tools whose file is gone. */
  readonly removed: readonly string[]
}

export interface WatchFolderOptions {
  folder: string
  declaring: DeclaringContext
  /** What is in force. What differs from it already is called back soon. */
  current: ToolFolder
  /** Called once for each change, one after the other. If it fails, it is called again with the next. */
  onChange(change: FolderChange): void | Promise<void>
  /** Told once of each version of a file that is not a tool; the one before it stays in force. */
  onError(message: string): void
}

/**
 * Watches a folder of tools. A file that is being written, or is at fault, leaves the tool that it declared in force. Does not keep the
 * process alive. Close it.
 */
export function watchToolFolder(options: WatchFolderOptions): { close(): Promise<void> } {
  const { folder, declaring } = options
  let inForce = new Map(options.current.tools.map((declared) => [declared.tool.definition.name, declared]))
  let told = new Set(options.current.faulty.map(toMark))

  const read = async (): Promise<void> => {
    const now = readToolFolder(folder, declaring)
    const next = toNext(inForce, now)
    for (const file of now.faulty) if (!told.has(toMark(file))) options.onError(describeIssues(file))
    told = new Set(now.faulty.map(toMark))
    const tools = [...next.values()].filter(
      (declared) => inForce.get(declared.tool.definition.name)?.text !== declared.text,
    )
    const removed = [...inForce.keys()].filter((name) => !next.has(name))
    if (tools.length > 0 || removed.length > 0) await options.onChange({ tools, removed })
    inForce = next
  }
  const list = (): readonly string[] => {
    const listed = listToolFiles(folder)
    return 'issues' in listed ? [folder] : listed.paths
  }
  return watchFiles(list, () => read().catch((error: unknown) => options.onError(messageOf(error))))
}

/** The tools that are there, and those in force whose file, or whose folder, is only at fault now. */
function toNext(
  inForce: ReadonlyMap<string, DeclaredTool>,
  { tools, faulty }: ToolFolder,
): Map<string, DeclaredTool> {
  const next = new Map(tools.map((declared) => [declared.tool.definition.name, declared]))
  const faultyPaths = new Set(faulty.map(({ path }) => path))
  for (const [name, declared] of inForce)
    if (!next.has(name) && (faultyPaths.has(declared.path) || faultyPaths.has(dirname(declared.path))))
      next.set(name, declared)
  return next
}

function toMark({ path, text, issues }: FaultyFile): string {
  return canonicalJson([path, text, issues.map(({ pointer, message }) => [pointer, message])])
}
