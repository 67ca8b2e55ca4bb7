import { isAbsolute, relative } from 'node:path'
import type { ContentBlock } from '../../../contract/base/result.ts'
import type { FileEffect } from '../../../contract/base/sandbox.ts'
import { quoteArgument } from '../../../kit/text/quote-argv.ts'
import { maxNamed } from './changes-data.ts'
import { previewDiff } from '../files/preview-diff.ts'

/** Characters of all diffs together. */
const maxDiffs = 64 * 1024

const signs = { created: '+', changed: '~', removed: '-' } as const

/** What a dry run would have changed, with the diffs of small texts; paths relative to the project. */
export function showChanges(changes: readonly FileEffect[], project: string): ContentBlock[] {
  const text =
    changes.length === 0
      ? '[A dry run: it would change no file.]'
      : [
          `[A dry run: it would change ${count(changes.length)}, and every file is as it was.]`,
          ...changes.slice(0, maxNamed).map((change) => describe(change, project)),
          ...(changes.length > maxNamed ? [`[and ${changes.length - maxNamed} more]`] : []),
          ...showDiffs(changes, project),
        ].join('\n')
  return [{ type: 'text', text }]
}

function count(changes: number): string {
  return changes === 1 ? '1 path' : `${changes} paths`
}

function describe({ path, effect, kind, bytes }: FileEffect, project: string): string {
  const what = kind === 'file' ? (bytes === undefined ? '' : ` (${bytes} bytes)`) : ` (${kind})`
  return `${signs[effect]} ${quoteArgument(nameIn(project, path))}${what}`
}

function showDiffs(changes: readonly FileEffect[], project: string): string[] {
  const diffs: string[] = []
  let left = maxDiffs
  for (const { path, text } of changes) {
    if (text?.after === undefined || text.before === text.after) continue
    const { body } = previewDiff({ name: nameIn(project, path), before: text.before, after: text.after })
    left -= body.length
    if (left < 0) return [...diffs, '[The diffs of further files are left out.]']
    diffs.push(body.trimEnd())
  }
  return diffs
}

function nameIn(project: string, path: string): string {
  const name = relative(project, path)
  return name.startsWith('..') || isAbsolute(name) ? path : name
}
