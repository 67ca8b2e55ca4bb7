import type { PathEffect, PathState } from '../../../contract/base/effects.ts'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { PastCall } from '../../../contract/services/history.ts'
import type { Preview } from '../../../contract/tool/plan.ts'
import { fileDigest } from '../../../kit/json/digest.ts'
import { showControls } from '../../../kit/text/show-controls.ts'
import { countOf } from '../base/count-of.ts'
import { showPath } from '../base/show-path.ts'
import { decodeTextFile } from '../files/text-file.ts'

/** Larger files are named, and not compared. */
const maxComparedBytes = 512 * 1024
/** More than this is not read for one preview, nor shown. */
const maxReadBytes = 4 * 1024 * 1024
const maxBodyBytes = 64 * 1024

/** Opens what a path holds now, or what had a digest. */
export interface Opened {
  now(path: string): AsyncIterable<Uint8Array>
  content(digest: string): AsyncIterable<Uint8Array>
}

/** What a person sees: the calls, each path with what becomes of it, and the differences of the texts. */
export async function previewUndo(
  { calls, changes }: { calls: readonly PastCall[]; changes: readonly PathEffect[] },
  { project, opened }: { project: string; opened: Opened },
): Promise<Preview> {
  const names = calls.map(
    ({ call, tool, at }) => `Takes back ${tool} of ${new Date(at).toISOString()}, ${call}`,
  )
  const { paths, diffs } = await describe(changes, { project, opened })
  const body = shorten([...names, ...paths, ...diffs].join('\n'))
  const digest = fileDigest(JSON.stringify(changes))
  return {
    kind: 'diff',
    title: `Undo ${countOf(calls.length, 'call')}: ${countOf(changes.length, 'path')}`,
    body: `${body}\n[digest of all of it ${digest}]`,
  }
}

/** One line for each path. */
export function describeChange({ path, before, after }: PathEffect, project: string): string {
  const name = showControls(showPath(project, path).replaceAll('\n', '␊'))
  if (after.kind === 'none') return `Removes ${name}${sizeOf(before)}`
  if (before.kind === 'none') return `Brings back ${name}${sizeOf(after)}`
  if (before.kind === 'file' && after.kind === 'file' && before.digest === after.digest)
    return `Gives ${name} the mode ${after.mode.toString(8)}`
  if (after.kind === 'directory' && before.kind === 'directory')
    return `Gives ${name}/ the mode ${after.mode.toString(8)}`
  return `Changes ${name}${sizeOf(after)}`
}

async function describe(
  changes: readonly PathEffect[],
  { project, opened }: { project: string; opened: Opened },
): Promise<{ paths: string[]; diffs: string[] }> {
  const { previewDiff } = await import('../../../kit/diff/preview-diff.ts')
  const paths: string[] = []
  const diffs: string[] = []
  let left = maxReadBytes
  for (const change of changes) {
    paths.push(describeChange(change, project))
    const { path, before, after } = change
    const bytes = bytesOf(before) + bytesOf(after)
    if (bytes > maxComparedBytes || bytes > left || (after.kind !== 'file' && before.kind !== 'file'))
      continue
    left -= bytes
    const texts = await readTexts(change, opened)
    if (texts === undefined || texts.before === texts.after) continue
    diffs.push(previewDiff({ name: showPath(project, path), ...texts }).body)
  }
  return { paths, diffs }
}

/** Undefined for what is not text, or may not be shown. */
async function readTexts(
  { path, before, after }: PathEffect,
  opened: Opened,
): Promise<{ before: string | undefined; after: string } | undefined> {
  try {
    const old = before.kind === 'file' ? decodeTextFile(await readAll(opened.now(path))) : undefined
    const next =
      after.kind === 'file' ? decodeTextFile(await readAll(opened.content(after.digest))) : undefined
    if ((before.kind === 'file' && old === undefined) || (after.kind === 'file' && next === undefined))
      return undefined
    return { before: old?.text, after: next?.text ?? '' }
  } catch (error) {
    if (error instanceof ToolFailure && error.reason === 'sensitive_path') return undefined
    throw error
  }
}

async function readAll(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}

function bytesOf(state: PathState): number {
  return state.kind === 'file' ? state.bytes : 0
}

function sizeOf(state: PathState): string {
  if (state.kind === 'directory') return '/'
  if (state.kind === 'link') return ` (link to ${showControls(state.target.replaceAll('\n', '␊'))})`
  return state.kind === 'file' ? ` (${countOf(state.bytes, 'byte')})` : ''
}

function shorten(body: string): string {
  const bytes = Buffer.from(body)
  if (bytes.length <= maxBodyBytes) return body
  const end = bytes.lastIndexOf(0x0a, maxBodyBytes)
  const shown = bytes.subarray(0, end < 0 ? maxBodyBytes : end).toString()
  return `${shown}\n… ${bytes.length - Buffer.byteLength(shown)} more bytes are not shown here`
}
