import { ToolFailure } from '../../../contract/base/errors.ts'
import { fileDigest } from '../../../kit/json/digest.ts'
import type { Span } from './json-spans.ts'
import type { Notebook, NotebookCell } from './notebook.ts'

export type CellType = 'code' | 'markdown' | 'raw'

/** One change of one cell. `cell` is an id or a position from 0. */
export type CellChange =
  | { mode: 'replace'; cell: string | number; source: string; type: CellType | undefined }
  /** Puts a new cell behind this one; position -1 puts it first. */
  | { mode: 'insert'; cell: string | number; source: string; type: CellType }
  | { mode: 'delete'; cell: string | number }

/** The notebook's text after the change, and the cell that it was about. Fails with `cell_not_found` or `ambiguous_edit`. */
export function changeNotebook(
  notebook: Notebook,
  change: CellChange,
): { text: string; index: number; id: string | undefined } {
  const index = findCell(notebook, change.cell, change.mode === 'insert' ? -1 : 0)
  if (change.mode === 'insert') {
    const cell = newCell(notebook, index + 1, change)
    return { text: insertCell(notebook, index, cell), index: index + 1, id: cell.id }
  }
  const cell = notebook.cells[index]
  if (cell === undefined) throw new Error('A found cell is there.')
  const text = change.mode === 'delete' ? deleteCell(notebook, index) : replaceCell(notebook, cell, change)
  return { text, index, id: cell.id }
}

function findCell({ cells }: Notebook, asked: string | number, least: number): number {
  if (typeof asked === 'string') {
    const found = cells.flatMap(({ id }, index) => (id === asked ? [index] : []))
    if (found.length > 1) throw ambiguousCell(asked, found)
    if (found[0] !== undefined) return found[0]
  }
  // Cells without an id are called by their position, such as "cell-3" or "3".
  const position = typeof asked === 'number' ? asked : Number(/^(?:cell-)?(\d{1,9})$/.exec(asked)?.[1])
  if (position >= least && position < cells.length) return position
  throw cellNotFound(cells, asked)
}

interface NewCell {
  cell_type: CellType
  id?: string
  metadata: object
  source: string | string[]
  execution_count?: null
  outputs?: readonly []
}

/** With its keys in the order in which Jupyter writes them. */
function newCell(
  notebook: Notebook,
  index: number,
  { type, source }: { type: CellType; source: string },
): NewCell {
  const isList = notebook.cells[0]?.isList ?? true
  return {
    cell_type: type,
    ...(type === 'code' && { execution_count: null }),
    ...(notebook.hasIds && { id: newId(notebook, `${index} ${source}`) }),
    metadata: {},
    ...(type === 'code' && { outputs: [] }),
    source: toSource(source, isList),
  }
}

/** Worked out from the notebook and the change, so that the same change always leads to the same file. */
function newId({ text, cells }: Notebook, change: string): string {
  for (let attempt = 0; ; attempt++) {
    const id = fileDigest(`${attempt} ${change} ${text}`).slice(-8)
    if (!cells.some((cell) => cell.id === id)) return id
  }
}

function toSource(source: string, isList: boolean): string | string[] {
  return isList ? (source.match(/[^\n]*\n|[^\n]+$/g) ?? []) : source
}

function insertCell(notebook: Notebook, after: number, cell: NewCell): string {
  const { text, span, cells, render, breakAt } = notebook
  const added = render(cell, 2)
  const before = cells[after]?.span
  const first = cells[0]?.span
  if (before !== undefined) return splice(text, [[at(before.end), `,${breakAt(2)}${added}`]])
  if (first !== undefined) return splice(text, [[at(first.start), `${added},${breakAt(2)}`]])
  return splice(text, [[span, `[${breakAt(2)}${added}${breakAt(1)}]`]])
}

function deleteCell({ text, span, cells }: Notebook, index: number): string {
  const [before, cell, after] = [cells[index - 1]?.span, cells[index]?.span, cells[index + 1]?.span]
  if (cell === undefined) return text
  if (after !== undefined) return splice(text, [[{ start: cell.start, end: after.start }, '']])
  if (before !== undefined) return splice(text, [[{ start: before.end, end: cell.end }, '']])
  return splice(text, [[span, '[]']])
}

function replaceCell(
  { text, render }: Notebook,
  cell: NotebookCell,
  { source, type }: { source: string; type: CellType | undefined },
): string {
  const written = source === cell.source ? cell.value['source'] : toSource(source, cell.isList)
  if (type !== undefined && type !== cell.type)
    return splice(text, [[cell.span, render(retype({ ...cell.value, source: written }, type), 2)]])
  if (source === cell.source) return text
  const edits: [Span | undefined, string][] = [[cell.members.get('source'), render(written, 3)]]
  // What it put out was put out by other code.
  if (cell.type === 'code')
    edits.push([cell.members.get('outputs'), '[]'], [cell.members.get('execution_count'), 'null'])
  return splice(text, edits)
}

/** A cell of another type has that type's keys: code has outputs, and only the others have attachments. */
function retype(cell: { readonly [key: string]: unknown }, type: CellType): object {
  const { outputs: _outputs, execution_count: _count, attachments, ...kept } = cell
  const own =
    type === 'code'
      ? { execution_count: null, outputs: [] }
      : attachments === undefined
        ? {}
        : { attachments }
  const keys = Object.entries({ ...kept, ...own, cell_type: type })
  return Object.fromEntries(keys.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function at(place: number): Span {
  return { start: place, end: place }
}

/** The text with these parts replaced; parts that are not there are left out. */
function splice(text: string, edits: readonly (readonly [Span | undefined, string])[]): string {
  let changed = text
  for (const [span, put] of edits.toSorted(([a], [b]) => (b?.start ?? 0) - (a?.start ?? 0)))
    if (span !== undefined) changed = changed.slice(0, span.start) + put + changed.slice(span.end)
  return changed
}

function ambiguousCell(asked: string, found: readonly number[]): ToolFailure {
  return new ToolFailure({
    reason: 'ambiguous_edit',
    message: `The id "${asked}" belongs to the cells at the positions ${found.join(', ')}. Give the position as a number.`,
    data: { cells: [...found] },
  })
}

function cellNotFound(cells: readonly NotebookCell[], asked: string | number): ToolFailure {
  const shown = cells
    .slice(0, 20)
    .map(({ id }, index) => (id === undefined ? `${index}` : `${index} "${id}"`))
  const there =
    cells.length === 0
      ? 'The notebook has no cells; insert one with cell -1.'
      : `Its ${cells.length} cells are: ${shown.join(', ')}${cells.length > 20 ? ', …' : ''}.`
  return new ToolFailure({
    reason: 'cell_not_found',
    message: `There is no cell ${JSON.stringify(asked)}. ${there}`,
    data: { cell: asked, cells: cells.length },
  })
}
