import { isAbsolute, relative } from 'node:path'
import type { ContentBlock } from '../../../contract/base/result.ts'
import type { FileEffect } from '../../../contract/base/sandbox.ts'
import { quoteArgument } from '../../../kit/text/quote-argv.ts'
import { maxNamed } from './changes-data.ts'

const signs = { created: '+', changed: '~', removed: '-' } as const

/** What a dry run would have changed; paths relative to the project. */
export function showChanges(changes: readonly FileEffect[], project: string): ContentBlock[] {
  const text =
    changes.length === 0
      ? '[A dry run: it would change no file.]'
      : [
          `[A dry run: it would change ${count(changes.length)}, and every file is as it was.]`,
          ...changes.slice(0, maxNamed).map((change) => describe(change, project)),
          ...(changes.length > maxNamed ? [`[and ${changes.length - maxNamed} more]`] : []),
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

function nameIn(project: string, path: string): string {
  const name = relative(project, path)
  return name.startsWith('..') || isAbsolute(name) ? path : name
}
