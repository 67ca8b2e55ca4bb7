import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Tool } from '../../../contract/tool/tool.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { changeNotebook, type CellChange, type CellType } from './change-notebook.ts'
import { pathField, changesFiles } from '../base/fields.ts'
import { fileNotFound } from '../base/file-not-found.ts'
import { invalidInput, requireWellFormed } from '../base/invalid-input.ts'
import { readNotebook } from './notebook.ts'
import { changeSchema, makeChange, planChange, readCurrent } from '../files/plan-change.ts'
import { showPath } from '../base/show-path.ts'
import { decodeTextFile } from '../files/text-file.ts'

const typeField = { type: 'string', enum: ['code', 'markdown', 'raw'] } as const
const modeField = { type: 'string', enum: ['replace', 'insert', 'delete'], default: 'replace' } as const

/** `code.edit_notebook`: one cell of a Jupyter notebook; every other byte of the file stays as it is. */
export function editNotebookTool(): Tool {
  return defineBuiltin({
    name: 'code.edit_notebook',
    title: 'Edit notebook',
    description:
      'Changes one cell of a Jupyter notebook (nbformat 4): replace its source, insert a new cell behind it (cell -1: as the first), or delete it. A cell is named by its id or by its position from 0. Outputs of a code cell are cleared when its source changes.',
    ...changesFiles,
    limits: { maxBytesIn: 4 * 1024 * 1024, maxFiles: 1 },
    input: {
      type: 'object',
      properties: {
        path: pathField,
        mode: modeField,
        cell: {
          type: ['string', 'integer'],
          description:
            'Id of the cell, or its position from 0. With insert: the cell before the new one, or -1.',
        },
        cell_type: { ...typeField, description: 'Default: the type it has; code for a new cell.' },
        source: { type: 'string', description: 'The whole new source of the cell. Not for delete.' },
      },
      required: ['path', 'cell'],
      additionalProperties: false,
    },
    output: changeSchema,
    compatible: {
      name: 'NotebookEdit',
      description:
        'Replaces the source of one cell of a Jupyter notebook, inserts a cell behind the one with cell_id (without: as the first), or deletes one.',
      inputSchema: {
        type: 'object',
        properties: {
          notebook_path: pathField,
          new_source: { type: 'string', description: 'The whole new source; ignored for delete.' },
          cell_id: { type: 'string', description: 'Id of the cell, or "cell-N" for position N from 0.' },
          cell_type: typeField,
          edit_mode: modeField,
        },
        required: ['notebook_path'],
        additionalProperties: false,
      },
      toCanonical: ({ notebook_path, new_source, cell_id, cell_type, edit_mode }) => ({
        path: notebook_path ?? '',
        mode: edit_mode ?? 'replace',
        cell: cell_id ?? (edit_mode === 'insert' ? -1 : ''),
        ...(edit_mode !== 'delete' && cell_type !== undefined && { cell_type }),
        ...(edit_mode !== 'delete' && new_source !== undefined && { source: new_source }),
      }),
    },
    decode: (input) => ({ path: requireNotebook(input.path), change: toChange(input) }),
    async plan({ path: asked, change }, context) {
      const { files } = context
      const path = await files.resolve(asked, 'write')
      const current = await readCurrent(files, path)
      if (current === undefined) throw await fileNotFound(files, context.project, path)
      const name = showPath(context.project, path)
      const file = decodeTextFile(current.bytes)
      if (file === undefined) throw binaryNotebook(name)
      const { text } = changeNotebook(readNotebook(file.text, name), change)
      return planChange(
        {
          path,
          current,
          bytes: file.encode(text),
          texts: { before: file.text, after: text },
          createDirs: false,
        },
        context,
      )
    },
    run: (_input, context) => makeChange(context),
  })
}

function requireNotebook(path: string): string {
  if (path.toLowerCase().endsWith('.ipynb')) return path
  throw invalidInput(`"${path}" is not a notebook: its name does not end in ".ipynb". Use code.edit_file.`)
}

interface ChangeInput {
  readonly mode: 'replace' | 'insert' | 'delete'
  readonly cell: string | number
  readonly cell_type?: CellType
  readonly source?: string
}

function toChange({ mode, cell, cell_type: type, source }: ChangeInput): CellChange {
  if (cell === '') throw invalidInput('Say which cell: its id, or its position from 0.')
  if (mode === 'delete') {
    if (source === undefined && type === undefined) return { mode, cell }
    throw invalidInput('"delete" takes neither "source" nor "cell_type". Leave them out, or use "replace".')
  }
  if (source === undefined) throw invalidInput(`"${mode}" needs "source", the whole source of the cell.`)
  const text = requireWellFormed(source, 'source')
  return mode === 'insert'
    ? { mode, cell, source: text, type: type ?? 'code' }
    : { mode, cell, source: text, type }
}

function binaryNotebook(name: string): ToolFailure {
  return new ToolFailure({
    reason: 'binary_file',
    message: `"${name}" is not text in UTF-8 or UTF-16, so it is not a notebook.`,
    data: { path: name },
  })
}
