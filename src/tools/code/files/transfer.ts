import { dirname } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Plan, PlanContext } from '../../../contract/tool/plan.ts'
import type { Files, Tree } from '../../../contract/services/sandbox.ts'
import type { ToolOutput } from '../../../contract/base/result.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import type { ContextWith } from '../../../define/tool-spec.ts'
import { pathField } from '../base/fields.ts'
import { requireDirectory } from './require-directory.ts'
import { showPath } from '../base/show-path.ts'
import { checkEntry, operationsOn, showTree, sizeOf, surveyPath, treeBounds } from './survey-path.ts'

/** What `code.copy_path` and `code.move_path` do. */
export type TransferKind = 'copy' | 'move'

/** What is to go where. */
export interface Transfer {
  from: string
  to: string
  overwrite: boolean
  createDirs: boolean
}

/** A transfer that was looked at; `run` does this one and no other. */
export interface PlannedTransfer {
  tree: Tree
  /** Absolute, links of its directory resolved. */
  to: string
  replace: 'absent' | { digest: string }
  createDirs: boolean
}

/** One call copies no more than this. */
const maxCopiedBytes = 1024 * 1024 * 1024

/** The plan: everything that goes, where from and where to, each by its name. */
export async function planTransfer(
  kind: TransferKind,
  { from, to: askedTo, overwrite, createDirs }: Transfer,
  { files, project }: PlanContext,
): Promise<Plan & { planned: PlannedTransfer }> {
  const tree = await surveyPath(files, from, { project, purpose: kind === 'move' ? 'write' : 'read' })
  const to = await files.resolveEntry(askedTo, 'write')
  if (!createDirs) await requireDirectory(files, project, to)
  const shown = showPath(project, to)
  const replaced = await findReplaced(files, { to, shown, overwrite })
  const isFolder = tree.entries[0]?.kind === 'directory'
  if (replaced !== undefined && isFolder) throw pathConflict(shown, 'No folder takes the place of a file.')
  if (kind === 'copy' && tree.bytes > maxCopiedBytes) throw tooLarge(showPath(project, tree.path), tree.bytes)
  const name = showPath(project, tree.path)
  const verb = kind === 'copy' ? 'Copy' : 'Move'
  const loss = replaced === undefined ? '' : `, replacing ${sizeOf(replaced)}`
  const lost = replaced === undefined ? '' : `\nReplaces:\n${showTree(replaced, shown)}`
  return {
    operations: [
      ...operationsOn(tree, tree.path, 'fs.read'),
      ...(kind === 'move' ? operationsOn(tree, tree.path, 'fs.write') : []),
      ...operationsOn(tree, to, 'fs.write'),
    ],
    preview: {
      kind: 'text',
      title: `${verb} ${name} to ${shown} (${sizeOf(tree)}${loss})`,
      body: `${showTree(tree, name)}${lost}`,
    },
    scope: `${dirname(tree.path)} → ${dirname(to)}`,
    planned: {
      tree,
      to,
      replace: replaced === undefined ? 'absent' : { digest: replaced.digest },
      createDirs,
    },
  }
}

/** The file or link that makes room; undefined if nothing is there. */
async function findReplaced(
  files: Files,
  { to, shown, overwrite }: { to: string; shown: string; overwrite: boolean },
): Promise<Tree | undefined> {
  const there = await surveyAlone(files, to, shown)
  if (there === undefined) return undefined
  if (there.entries[0]?.kind === 'directory') throw folderConflict(shown)
  if (!overwrite) throw pathConflict(shown, 'Choose another name, or set overwrite to replace it.')
  return there
}

async function surveyAlone(files: Files, to: string, shown: string): Promise<Tree | undefined> {
  try {
    return await files.survey(to, { maxEntries: 1, maxDepth: 1, purpose: 'write' })
  } catch (error) {
    if (error instanceof ToolFailure && error.reason === 'too_many_files') throw folderConflict(shown)
    throw error
  }
}

/** Does what was planned, where all of it is still as it was. */
export async function runTransfer(
  kind: TransferKind,
  { files, project, planned }: ContextWith<'files', PlannedTransfer>,
): Promise<ToolOutput> {
  const { tree, to, replace, createDirs } = planned
  await checkEntry(files, tree.path, kind === 'move' ? 'write' : 'read')
  await checkEntry(files, to, 'write')
  await files[kind](tree.path, to, { ...treeBounds, expect: tree.digest, replace, createDirs })
  const from = showPath(project, tree.path)
  const shown = showPath(project, to)
  const did = kind === 'copy' ? 'Copied' : 'Moved'
  const summary = `${did} ${from} to ${shown} (${sizeOf(tree)})`
  return toolOutput({
    content: `${summary}.`,
    summary,
    data: {
      from,
      to: shown,
      entries: tree.entries.length,
      files: tree.files,
      bytes: tree.bytes,
      replaced: replace !== 'absent',
    },
  })
}

function folderConflict(path: string): ToolFailure {
  return pathConflict(path, `It is a folder. To put something into it, name the whole new path below it.`)
}

function pathConflict(path: string, advice: string): ToolFailure {
  return new ToolFailure({
    reason: 'path_conflict',
    message: `"${path}" exists already; nothing was done. ${advice}`,
    data: { path },
  })
}

function tooLarge(path: string, bytes: number): ToolFailure {
  return new ToolFailure({
    reason: 'file_too_large',
    message: `"${path}" has ${bytes} bytes, and one call copies at most ${maxCopiedBytes}. Copy parts of it, or use a command.`,
    data: { bytes, maxBytes: maxCopiedBytes },
  })
}

/** Fields of both tools. */
export const transferInput = {
  type: 'object',
  properties: {
    from: pathField,
    to: { ...pathField, description: 'The whole new path, not the folder to put it in.' },
    overwrite: {
      type: 'boolean',
      default: false,
      description: 'Replace a file that is there. A folder is never replaced.',
    },
    create_dirs: { type: 'boolean', default: true, description: 'Make missing directories.' },
  },
  required: ['from', 'to'],
  additionalProperties: false,
} as const

/** Data of both tools. */
export const transferOutput = {
  type: 'object',
  properties: {
    from: { type: 'string' },
    to: { type: 'string' },
    entries: { type: 'integer', description: 'Files, folders and links, the top one too.' },
    files: { type: 'integer' },
    bytes: { type: 'integer', description: 'Bytes of the files together.' },
    replaced: { type: 'boolean', description: 'Whether it took the place of a file.' },
  },
  required: ['from', 'to', 'entries', 'files', 'bytes', 'replaced'],
  additionalProperties: false,
} as const
