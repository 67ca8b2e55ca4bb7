import { Unreadable, type Cursor, type Findings } from './cursor.ts'
import { readList } from './read-list.ts'
import type { ShellReading } from './reading.ts'

/** So often reading goes on after something that cannot be read. */
const maxFailures = 100

/**
 * Reads a command line as `sh` and `bash` would, without running anything: every command in it, wherever it is nested, with its
 * quotes resolved. Total, and linear in the text. Where something cannot be read the rest is read all the same, so that no command
 * escapes by standing after it, and `hidden` says so.
 */
export function readCommandLine(text: string): ShellReading {
  const findings: Findings = { commands: [], plain: true, hidden: false }
  const cursor: Cursor = { text, at: 0, depth: 0, documents: [], findings, readList }
  if (text.includes('\0')) findings.plain = !(findings.hidden = true)
  for (let failures = 0; cursor.at < text.length && failures < maxFailures; failures++) {
    try {
      readList(cursor, undefined)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      findings.plain = false
      findings.hidden = true
      cursor.at++
      cursor.depth = 0
      cursor.documents = []
    }
  }
  if (cursor.documents.length > 0 || cursor.at < text.length) {
    findings.plain = false
    findings.hidden = true
  }
  return findings
}
