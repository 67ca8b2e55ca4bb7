import { ToolFailure } from '../../../contract/base/errors.ts'

/** One line of a hunk, without its mark and line feed. */
export interface HunkLine {
  kind: 'context' | 'remove' | 'add'
  text: string
  /** Marked with `\ No newline at end of file`. */
  noNewline: boolean
}

export interface Hunk {
  /** From 1 on; 0 for a hunk that fills an empty file. */
  oldStart: number
  lines: readonly HunkLine[]
}

/** A diff of one file. Names are as they stand in the headers; undefined if the header is missing. */
export interface UnifiedDiff {
  oldName: string | undefined
  newName: string | undefined
  /** What follows `diff --git `. */
  gitNames: string | undefined
  hunks: readonly Hunk[]
}

const hunkHeader = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@(?: .*)?$/
/** Header lines that say nothing about what is changed. */
const plainHeader =
  /^(?:|index [0-9a-f]+\.\.[0-9a-f]+(?: 100(?:644|755))?|Index: .*|=+|new file mode 100644)$/

/** Header lines that ask for what cannot be done, and what to say. */
const refusedHeaders: readonly (readonly [line: RegExp, message: string])[] = [
  [
    /^(?:rename|copy) (?:from|to) |^similarity index /,
    'it renames or copies a file; only the text of one file can be changed',
  ],
  [/^deleted file mode /, 'it deletes the file; only its text can be changed'],
  [/^(?:GIT binary patch|Binary files .* differ)/, 'it is a binary patch; only text can be changed'],
  [
    /^(?:(?:old|new) mode|new file mode|index .* 1[26]0000$)/,
    'it changes the mode or kind of the file; leave out the mode lines',
  ],
]

/**
 * Parses a unified diff of one file. Every line has to be accounted for, and each hunk has to have as many lines as its header says.
 * Throws a `ToolFailure` with `patch_apply_failed`, or `patch_path_mismatch` where a second file begins.
 */
export function parseUnifiedDiff(diff: string): UnifiedDiff {
  const lines = splitDiff(diff)
  const header = parseHeader(lines)
  const hunks: Hunk[] = []
  let at = header.end
  while (at < lines.length) {
    const line = lines[at] ?? ''
    if (line === '') at++
    else if (hunkHeader.test(line)) {
      const { hunk, end } = parseHunk(lines, at, hunks.length + 1)
      hunks.push(hunk)
      at = end
    } else throw strayLine(line, at, hunks.length)
  }
  if (hunks.length === 0) throw failed('it has no hunk; a hunk begins with a line such as "@@ -3,4 +3,5 @@"')
  return { ...header, hunks }
}

/** The lines; a diff that was sent with CRLF throughout, headers too, is taken as LF. */
function splitDiff(diff: string): string[] {
  const lines = diff.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const header = lines.find((line) => line.startsWith('@@'))
  return header?.endsWith('\r') === true ? lines.map((line) => line.replace(/\r$/, '')) : lines
}

function parseHeader(lines: readonly string[]): Omit<UnifiedDiff, 'hunks'> & { end: number } {
  let oldName: string | undefined
  let newName: string | undefined
  let gitNames: string | undefined
  let at = 0
  for (; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (line.startsWith('@@')) break
    const refused = refusedHeaders.find(([pattern]) => pattern.test(line) && !plainHeader.test(line))
    if (refused !== undefined) throw failed(refused[1])
    if (line.startsWith('diff --git ') && gitNames === undefined && oldName === undefined)
      gitNames = line.slice(11)
    else if (line.startsWith('--- ') && oldName === undefined) oldName = line.slice(4)
    else if (line.startsWith('+++ ') && oldName !== undefined && newName === undefined)
      newName = line.slice(4)
    else if (!plainHeader.test(line)) throw strayLine(line, at, 0)
  }
  if (oldName !== undefined && newName === undefined)
    throw failed('its "---" line has no "+++" line after it')
  return { oldName, newName, gitNames, end: at }
}

function parseHunk(lines: readonly string[], start: number, number: number): { hunk: Hunk; end: number } {
  const header = lines[start] ?? ''
  const match = hunkHeader.exec(header)
  const wanted = { old: Number(match?.[2] ?? 1), new: Number(match?.[3] ?? 1) }
  const counted = { old: 0, new: 0 }
  const parsed: HunkLine[] = []
  let at = start + 1
  while (counted.old < wanted.old || counted.new < wanted.new || lines[at]?.startsWith('\\') === true) {
    const line = lines[at++]
    const added = line === undefined ? undefined : addLine(parsed, line)
    if (added === undefined) throw wrongCounts({ number, header, wanted, counted })
    if (added !== 'add' && added !== 'mark') counted.old++
    if (added !== 'remove' && added !== 'mark') counted.new++
  }
  if (counted.old !== wanted.old || counted.new !== wanted.new)
    throw wrongCounts({ number, header, wanted, counted })
  return { hunk: { oldStart: Number(match?.[1]), lines: parsed }, end: at }
}

/** What the line was; undefined if it cannot stand in a hunk. */
function addLine(lines: HunkLine[], line: string): HunkLine['kind'] | 'mark' | undefined {
  if (line.startsWith('\\')) {
    const last = lines.at(-1)
    if (last === undefined) return undefined
    last.noNewline = true
    return 'mark'
  }
  // Editors and models strip the one space of an empty line of context.
  const kind = line === '' || line === '\r' ? 'context' : kinds[line[0] ?? '']
  if (kind === undefined) return undefined
  lines.push({ kind, text: line === '\r' ? line : line.slice(1), noNewline: false })
  return kind
}

const kinds: { readonly [mark: string]: HunkLine['kind'] } = { ' ': 'context', '-': 'remove', '+': 'add' }

interface Counts {
  old: number
  new: number
}

function wrongCounts(about: {
  number: number
  header: string
  wanted: Counts
  counted: Counts
}): ToolFailure {
  const { number, header, wanted, counted } = about
  return failed(
    `hunk ${number}, "${header.slice(0, 80)}", says ${wanted.old} old and ${wanted.new} new lines but has ${counted.old} and ${counted.new} up to its end; correct the counts or the lines`,
  )
}

function strayLine(line: string, at: number, hunks: number): ToolFailure {
  if (/^(?:diff --git |--- |Index: )/.test(line)) {
    return new ToolFailure({
      reason: 'patch_path_mismatch',
      message: `The diff changes more than one file: a second one begins at its line ${at + 1}. Make one call for each file.`,
    })
  }
  const where =
    hunks === 0
      ? 'is not a header of a unified diff'
      : `belongs to no hunk (does the header of hunk ${hunks} count too few lines?)`
  return failed(`its line ${at + 1}, ${JSON.stringify(line.slice(0, 80))}, ${where}`)
}

function failed(why: string): ToolFailure {
  return new ToolFailure({ reason: 'patch_apply_failed', message: `The diff cannot be applied: ${why}.` })
}
