import { showControls } from '../../../kit/text/show-controls.ts'
import { showName } from '../../../kit/text/show-name.ts'
import type { SearchHit } from '../../../contract/services/sandbox.ts'

/** Longer lines are cut; minified files have lines of megabytes. */
const maxLineLetters = 1_000
/** Text of all lines together. */
const maxLetters = 1024 * 1024

/** The hits with long lines cut, and no more of them than a result can carry. */
export function boundHits(hits: readonly SearchHit[]): { hits: SearchHit[]; cut: boolean } {
  const bounded: SearchHit[] = []
  let letters = 0
  for (const hit of hits) {
    const text = hit.text?.trimEnd()
    const short =
      text !== undefined && text.length > maxLineLetters ? `${text.slice(0, maxLineLetters)}…` : text
    letters += hit.path.length + (short?.length ?? 0)
    if (letters > maxLetters) return { hits: bounded, cut: true }
    bounded.push(short === undefined ? hit : { ...hit, text: short.toWellFormed() })
  }
  return { hits: bounded, cut: false }
}

/** The hits as lines to read: paths, paths with counts, or each path once with its lines below, `12:` a match and `13-` context. */
export function showHits(hits: readonly SearchHit[], mode: 'content' | 'files' | 'count'): string[] {
  if (mode === 'files') return hits.map((hit) => showName(hit.path))
  if (mode === 'count') return hits.map((hit) => `${showName(hit.path)}: ${hit.count ?? 0}`)
  const lines: string[] = []
  let path: string | undefined
  let last = 0
  for (const hit of hits) {
    const line = hit.line ?? 0
    if (hit.path !== path) {
      if (path !== undefined) lines.push('')
      lines.push(showName(hit.path))
    } else if (hasContext(hits) && line > last + 1) lines.push('--')
    lines.push(`${line}${hit.context === true ? '-' : ':'}${showControls(hit.text ?? '')}`)
    path = hit.path
    last = line
  }
  return lines
}

function hasContext(hits: readonly SearchHit[]): boolean {
  return hits.some((hit) => hit.context === true)
}
