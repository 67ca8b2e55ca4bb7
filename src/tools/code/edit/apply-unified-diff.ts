import { ToolFailure } from '../../../contract/base/errors.ts'
import { applyHunks } from './apply-hunks.ts'
import { checkDiffNames } from './check-diff-names.ts'
import { parseUnifiedDiff } from './parse-unified-diff.ts'

/** The text a diff is for. */
export interface DiffTarget {
  text: string
  /** Whether the text begins with a byte order mark that `text` leaves out. */
  bom: boolean
  /** Names under which the diff may know the file, the usual one first. */
  names: readonly string[]
}

/** Larger texts are not taken apart into lines. */
const maxCharacters = 4 * 1024 * 1024

/**
 * The text after the diff, without a byte order mark where `text` had none. Throws a `ToolFailure` with `patch_apply_failed`,
 * `patch_path_mismatch` or `file_too_large`; a diff is applied as a whole or not at all.
 */
export function applyUnifiedDiff(diff: string, target: DiffTarget): string {
  if (target.text.length > maxCharacters) throw tooLarge(target)
  const parsed = parseUnifiedDiff(diff)
  const { creates } = checkDiffNames(parsed, target.names)
  if (creates && target.text !== '') {
    throw new ToolFailure({
      reason: 'patch_apply_failed',
      message: `The diff creates the file ("--- /dev/null"), but "${target.names[0]}" has text already. Make a diff of what it has now.`,
    })
  }
  // A diff that git made of a file with a byte order mark has the mark in its first line.
  const marked = target.bom && diff.includes('\uFEFF')
  const result = applyHunks(marked ? `\uFEFF${target.text}` : target.text, parsed.hunks)
  return marked && result.startsWith('\uFEFF') ? result.slice(1) : result
}

function tooLarge({ text, names }: DiffTarget): ToolFailure {
  return new ToolFailure({
    reason: 'file_too_large',
    message: `"${names[0]}" has ${text.length} characters; a diff is applied to at most ${maxCharacters}. Use "edits" instead.`,
    data: { limit: maxCharacters },
  })
}
