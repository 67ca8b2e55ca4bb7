import { dirname } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Plan, PlanContext } from '../../../contract/tool/plan.ts'
import type { ToolOutput } from '../../../contract/base/result.ts'
import type { Files } from '../../../contract/services/sandbox.ts'
import type { ContextWith } from '../../../define/tool-spec.ts'
import { fileDigest } from '../../../kit/json/digest.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { checkPath } from '../base/check-path.ts'
import { showPath } from '../base/show-path.ts'

/** Larger files are neither edited nor overwritten, and no edit makes one. */
export const maxFileBytes = 16 * 1024 * 1024

/** What a file has now. */
export interface CurrentFile {
  bytes: Uint8Array
  digest: string
}

/** A change of one file, worked out and not yet made. */
export interface FileChange {
  /** Absolute and resolved. */
  path: string
  /** Undefined for a new file. */
  current: CurrentFile | undefined
  bytes: Uint8Array
  /** For the preview. `before` is undefined without a text to compare with. */
  texts: { before: string | undefined; after: string }
  createDirs: boolean
}

/** What `run` needs to make exactly the change that was previewed. */
export interface PlannedChange {
  path: string
  bytes: Uint8Array
  expect: 'absent' | { digest: string }
  unchanged: boolean
  createDirs: boolean
  addedLines: number
  removedLines: number
}

/** The file at a resolved path; undefined if nothing is there. Fails for anything but a regular file of at most 16 MiB. */
export async function readCurrent(files: Files, path: string): Promise<CurrentFile | undefined> {
  if ((await files.stat(path)) === undefined) return undefined
  const { bytes } = await files.read(path, { maxBytes: maxFileBytes })
  return { bytes, digest: fileDigest(bytes) }
}

/** The plan of a change: its preview is the diff, its scope the directory. Loads the diff library with the first one. */
export async function planChange(
  change: FileChange,
  context: PlanContext,
): Promise<Plan & { planned: PlannedChange }> {
  const { path, current, bytes, texts, createDirs } = change
  const name = showPath(context.project, path)
  if (bytes.length > maxFileBytes) throw tooLarge(name, bytes.length)
  const { previewDiff } = await import('../../../kit/diff/preview-diff.ts')
  const diff = previewDiff({ name, ...texts })
  const unchanged = current !== undefined && Buffer.compare(current.bytes, bytes) === 0
  const verb = current === undefined ? 'Create' : unchanged ? 'Leave unchanged' : 'Change'
  const replaced =
    current !== undefined && texts.before === undefined
      ? `The file is binary now: ${current.bytes.length} bytes, ${current.digest}.\n`
      : ''
  const { addedLines, removedLines } = diff
  return {
    operations: [{ kind: 'fs.write', path }],
    preview: {
      kind: 'diff',
      title: `${verb} ${name} (+${addedLines} -${removedLines})`,
      body: replaced + diff.body,
    },
    scope: dirname(path),
    planned: {
      path,
      bytes,
      expect: current === undefined ? 'absent' : { digest: current.digest },
      unchanged,
      createDirs,
      addedLines,
      removedLines,
    },
  }
}

function tooLarge(name: string, bytes: number): ToolFailure {
  return new ToolFailure({
    reason: 'file_too_large',
    message: `"${name}" would have ${bytes} bytes; at most ${maxFileBytes} are written. Write less, or use a program.`,
    data: { path: name, bytes, limit: maxFileBytes },
  })
}

/** Makes the change, where the file is still what the preview was made from. */
export async function makeChange({
  files,
  project,
  planned,
}: ContextWith<'files', PlannedChange>): Promise<ToolOutput> {
  const { path, bytes, expect, unchanged, createDirs, addedLines, removedLines } = planned
  await checkPath(files, path, 'write')
  if (unchanged) await checkUnchanged(files, planned)
  else await files.write(path, bytes, { createDirs, expect })
  const name = showPath(project, path)
  const created = expect === 'absent'
  const did = created ? 'Created' : unchanged ? 'Nothing to change in' : 'Changed'
  const summary = `${did} ${name}${unchanged ? '' : ` (+${addedLines} -${removedLines} lines, ${bytes.length} bytes)`}`
  return toolOutput({
    content: `${summary}.`,
    summary,
    data: {
      path: name,
      bytes: bytes.length,
      digest: fileDigest(bytes),
      created,
      unchanged,
      added_lines: addedLines,
      removed_lines: removedLines,
    },
  })
}

async function checkUnchanged(files: Files, { path, bytes }: PlannedChange): Promise<void> {
  const current = await readCurrent(files, path)
  if (current !== undefined && Buffer.compare(current.bytes, bytes) === 0) return
  throw new ToolFailure({
    reason: 'stale_preview',
    message: `"${path}" changed after the call was checked; nothing was written. Read it again.`,
    data: { path },
  })
}

/** Output schema of the tools that change a file. */
export const changeSchema = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    bytes: { type: 'integer', description: 'Size of the file now.' },
    digest: { type: 'string', description: 'sha256 of the file now.' },
    created: { type: 'boolean' },
    unchanged: { type: 'boolean', description: 'Whether the file had this content already.' },
    added_lines: { type: 'integer' },
    removed_lines: { type: 'integer' },
  },
  required: ['path', 'bytes', 'digest', 'created', 'unchanged', 'added_lines', 'removed_lines'],
  additionalProperties: false,
} as const
