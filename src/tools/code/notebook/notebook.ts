import { ToolFailure } from '../../../contract/base/errors.ts'
import { describeJsonIssue } from '../../../kit/json/describe-json-issue.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { elementsAt, firstValue, membersAt, type Span } from './json-spans.ts'

/** A notebook of nbformat 4 as a text whose parts can be found, so that a change leaves every other byte as it is. */
export interface Notebook {
  readonly text: string
  /** The array of cells. */
  readonly span: Span
  readonly cells: readonly NotebookCell[]
  /** Cells carry ids from nbformat 4.5 on. */
  readonly hasIds: boolean
  /** A value as text, as deep in the file as told, indented the way the file is. */
  readonly render: (value: unknown, depth: number) => string
  /** A line break with the indentation of this depth; empty if the file has no line breaks. */
  readonly breakAt: (depth: number) => string
}

export interface NotebookCell {
  readonly span: Span
  readonly members: ReadonlyMap<string, Span>
  readonly value: { readonly [key: string]: unknown }
  readonly id: string | undefined
  readonly type: string
  readonly source: string
  /** Whether its source is a list of lines, as Jupyter writes it. */
  readonly isList: boolean
}

/** Reads a notebook. Fails with `invalid_notebook` for anything but nbformat 4 with well formed cells. */
export function readNotebook(text: string, name: string): Notebook {
  const value = parse(text, name)
  if (!isPlainObject(value)) throw invalidNotebook(name, 'it is not a JSON object')
  const { nbformat, nbformat_minor: minor, cells } = value
  if (nbformat !== 4)
    throw invalidNotebook(name, `its "nbformat" is ${JSON.stringify(nbformat) ?? 'missing'}`)
  const span = membersAt(text, firstValue(text)).get('cells')
  if (!Array.isArray(cells) || span === undefined) throw invalidNotebook(name, 'it has no list "cells"')
  const spans = elementsAt(text, span.start)
  const read = cells.map((cell: unknown, index) =>
    toCell({ text, span: spans[index] ?? span, value: cell, where: `cells[${index}]` }, name),
  )
  return { text, span, cells: read, hasIds: typeof minor === 'number' && minor >= 5, ...formOf(text) }
}

function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidNotebook(name, `it is not JSON at ${describeJsonIssue(text)}`)
  }
}

interface FoundCell {
  text: string
  span: Span
  value: unknown
  where: string
}

function toCell({ text, span, value, where }: FoundCell, name: string): NotebookCell {
  if (!isPlainObject(value)) throw invalidNotebook(name, `${where} is not an object`)
  const { id, cell_type: type, source } = value
  if (typeof type !== 'string') throw invalidNotebook(name, `${where} has no "cell_type"`)
  const isList = Array.isArray(source) && source.every((line) => typeof line === 'string')
  if (!isList && typeof source !== 'string')
    throw invalidNotebook(name, `"source" of ${where} is neither a text nor a list of lines`)
  return {
    span,
    members: membersAt(text, span.start),
    value,
    id: typeof id === 'string' ? id : undefined,
    type,
    source: isList ? source.join('') : String(source),
    isList,
  }
}

/** How the file is indented, as its first member shows. */
function formOf(text: string): Pick<Notebook, 'render' | 'breakAt'> {
  const [, lineBreak = '', unit = ''] = /^\s*\{(\r?\n)([ \t]*)"/.exec(text) ?? []
  const breakAt = (depth: number) => (lineBreak === '' ? '' : lineBreak + unit.repeat(depth))
  return {
    breakAt,
    render: (value, depth) => JSON.stringify(value, undefined, unit).replaceAll('\n', breakAt(depth)),
  }
}

function invalidNotebook(name: string, issue: string): ToolFailure {
  return new ToolFailure({
    reason: 'invalid_notebook',
    message: `"${name}" is not a notebook of nbformat 4: ${issue}. Nothing was changed; repair it or convert it first.`,
    data: { path: name },
  })
}
