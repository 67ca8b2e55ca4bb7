import type { SearchHit } from '../../contract/services/sandbox.ts'
import { maxLineBytes, type RipgrepSearch } from './ripgrep-arguments.ts'

/** One file in ripgrep's output. */
export interface FoundFile {
  /** Relative to the searched directory, as bytes of its name in Latin-1, for comparing. */
  readonly key: string
  readonly path: string
  /** Its lines or its count. */
  readonly body: Buffer
}

const newline = 10

/** Splits what ripgrep printed with `--null` into files. What an early end cut off is left out. */
export function splitFiles(output: Buffer, mode: RipgrepSearch['mode']): FoundFile[] {
  const files: FoundFile[] = []
  for (let at = 0; at < output.length;) {
    const nameEnd = output.indexOf(0, at)
    if (nameEnd < 0) break
    const bodyEnd = endOfBody(output, nameEnd + 1, mode)
    files.push(toFoundFile(output.subarray(at, nameEnd), output.subarray(nameEnd + 1, bodyEnd)))
    // An empty line follows the lines of a file, except those of the last one.
    at = mode === 'content' ? bodyEnd + 1 : bodyEnd
  }
  return files
}

function endOfBody(output: Buffer, start: number, mode: RipgrepSearch['mode']): number {
  if (mode === 'list' || mode === 'files') return start
  const end = output.indexOf(mode === 'count' ? '\n' : '\n\n', start)
  return end < 0 ? output.length : end + 1
}

function toFoundFile(name: Buffer, body: Buffer): FoundFile {
  const relative = name.subarray(name.length > 2 && name.toString('latin1', 0, 2) === './' ? 2 : 0)
  return { key: relative.toString('latin1').replaceAll('/', '\0'), path: relative.toString(), body }
}

/** Orders files by path, name by name, as ripgrep's own `--sort path` does. */
export function byPath(a: FoundFile, b: FoundFile): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0
}

/** The hits in one file, under this path. */
export function* hitsIn(file: FoundFile, path: string, mode: RipgrepSearch['mode']): Generator<SearchHit> {
  if (mode === 'list' || mode === 'files') yield { path }
  else if (mode === 'count') yield { path, count: Number(file.body.toString('latin1')) }
  else yield* linesIn(file.body, path)
}

/** Lines are `12:text` or, for context, `12-text`; remarks of ripgrep and separators start with something else. */
function* linesIn(body: Buffer, path: string): Generator<SearchHit> {
  for (let at = 0; at < body.length;) {
    const found = body.indexOf(newline, at)
    const end = found < 0 ? body.length : found
    const numberEnd = endOfDigits(body, at)
    const mark = body[numberEnd]
    if (numberEnd > at && (mark === 0x3a || mark === 0x2d)) {
      const line = Number(body.toString('latin1', at, numberEnd))
      const text = lineText(body.subarray(numberEnd + 1, end))
      yield mark === 0x3a ? { path, line, text } : { path, line, text, context: true }
    }
    at = end + 1
  }
}

function endOfDigits(body: Buffer, start: number): number {
  let at = start
  while ((body[at] ?? 0) >= 0x30 && (body[at] ?? 0) <= 0x39) at++
  return at
}

const cutMark = ' [... omitted end of long line]'

function lineText(line: Buffer): string {
  const bytes = line.at(-1) === 0x0d ? line.subarray(0, -1) : line
  if (bytes.length <= maxLineBytes + cutMark.length) return bytes.toString()
  return bytes.subarray(0, maxLineBytes).toString().replace(/�+$/, '') + cutMark
}
