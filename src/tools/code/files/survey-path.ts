import { join } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Operation } from '../../../contract/tool/plan.ts'
import type { Files, Tree } from '../../../contract/services/sandbox.ts'
import { showControls } from '../../../kit/text/show-controls.ts'
import { countOf } from '../base/count-of.ts'
import { fileNotFound } from '../base/file-not-found.ts'

/** How much one call copies, moves or deletes: each thing of it is named in the plan, so that every rule sees it. */
export const treeBounds = { maxEntries: 2_000, maxDepth: 64 } as const

const maxShownBytes = 32 * 1024

/** What is at the path, a link itself and not what it leads to. Fails with `file_not_found` where nothing is. */
export async function surveyPath(
  files: Files,
  asked: string,
  { project, purpose }: { project: string; purpose: 'read' | 'write' },
): Promise<Tree> {
  const tree = await files.survey(asked, { ...treeBounds, purpose })
  if (tree !== undefined) return tree
  throw await fileNotFound(files, project, await files.resolveEntry(asked, purpose))
}

/** An operation on each thing of a tree, as it lies at `root`. */
export function operationsOn(tree: Tree, root: string, kind: 'fs.read' | 'fs.write'): Operation[] {
  return tree.entries.map(({ path }) => ({ kind, path: join(root, path) }))
}

/** How much there is: `3 files, 1 folder, 120 bytes`. */
export function sizeOf(tree: Tree): string {
  const count = (kind: string) => tree.entries.filter((entry) => entry.kind === kind).length
  const parts = [
    [count('file'), 'file'],
    [count('directory'), 'folder'],
    [count('link'), 'link'],
  ] as const
  const counted = parts.flatMap(([number, noun]) => (number === 0 ? [] : [countOf(number, noun)]))
  return [...counted, countOf(tree.bytes, 'byte')].join(', ')
}

/**
 * What a person sees of a tree: its names, and a digest of all that is there, so that a yes to it is not one to anything else. Long lists
 * are cut off, and say so.
 */
export function showTree(tree: Tree, name: string): string {
  const lines: string[] = []
  let bytes = 0
  for (const { path, kind, size } of tree.entries) {
    const shown = path === '' ? name : `${name}/${path}`
    const mark = kind === 'directory' ? '/' : kind === 'link' ? '@' : `\t${size}`
    const line = showControls(`${shown.replaceAll('\n', '␊')}${mark}`)
    bytes += Buffer.byteLength(line) + 1
    if (bytes > maxShownBytes) break
    lines.push(line)
  }
  const hidden = tree.entries.length - lines.length
  if (hidden > 0) lines.push(`… and ${hidden} more`)
  return `${lines.join('\n')}\n[${sizeOf(tree)}; digest of all of it ${tree.digest}]`
}

/** Refuses with `stale_preview` where the name lies elsewhere than when the call was planned: a link may have taken its folder's place. */
export async function checkEntry(files: Files, path: string, purpose: 'read' | 'write'): Promise<void> {
  const now = await files.resolveEntry(path, purpose)
  if (now === path) return
  throw new ToolFailure({
    reason: 'stale_preview',
    message: `"${path}" leads to "${now}" since the call was checked; nothing was done. Make the call again.`,
    data: { path, now },
  })
}
