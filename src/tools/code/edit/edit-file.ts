import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Tool } from '../../../contract/tool/tool.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { applyEdits, type Edit } from './apply-edits.ts'
import { applyUnifiedDiff } from './apply-unified-diff.ts'
import { pathField, changesFiles } from '../base/fields.ts'
import { fileNotFound } from '../base/file-not-found.ts'
import { invalidInput, requireWellFormed } from '../base/invalid-input.ts'
import { changeSchema, makeChange, planChange, readCurrent, type CurrentFile } from '../files/plan-change.ts'
import { showPath } from '../base/show-path.ts'
import { decodeTextFile, emptyTextFile, type TextFile } from '../files/text-file.ts'

/** How a file is to be changed. */
type Change = { kind: 'edits'; edits: readonly Edit[] } | { kind: 'diff'; diff: string }

/** `code.edit_file`: exact replacements, or a unified diff, in one text file; all of it or nothing. */
export function editFileTool(): Tool {
  return defineBuiltin({
    name: 'code.edit_file',
    title: 'Edit file',
    description:
      'Changes one text file, either by edits (each "old" must occur exactly once in the file as the edits before left it, or set replace_all; text is taken literally) or by a unified_diff of this file that applies cleanly. All or nothing. Line endings are kept.',
    ...changesFiles,
    limits: { maxFiles: 1 },
    input: inputSchema,
    output: changeSchema,
    compatible: {
      name: 'Edit',
      description:
        'Replaces text in one file. old_string must occur exactly once, or set replace_all; an empty old_string creates a new file. Text is taken literally.',
      inputSchema: {
        type: 'object',
        properties: {
          file_path: pathField,
          old_string: { type: 'string' },
          new_string: { type: 'string' },
          replace_all: { type: 'boolean', default: false },
        },
        required: ['file_path', 'old_string', 'new_string'],
        additionalProperties: false,
      },
      toCanonical: ({ file_path, old_string, new_string, replace_all }) => ({
        path: file_path ?? '',
        edits: [{ old: old_string ?? '', new: new_string ?? '', replace_all: replace_all ?? false }],
        create_if_missing: old_string === '',
      }),
    },
    decode: (input) => ({
      path: input.path,
      change: toChange(input.edits, input.unified_diff),
      createIfMissing: input.create_if_missing,
    }),
    async plan({ path: asked, change, createIfMissing }, context) {
      const { files } = context
      const path = await files.resolve(asked, 'write')
      const current = await readCurrent(files, path)
      if (current === undefined && !createIfMissing) throw await fileNotFound(files, context.project, path)
      const name = showPath(context.project, path)
      const file = toTextFile(current, name)
      const after =
        change.kind === 'edits'
          ? await applyEdits(file.text, change.edits, createIfMissing)
          : applyUnifiedDiff(change.diff, {
              text: file.text,
              bom: file.bom,
              names: [name, path, showAsked(asked)],
            })
      const before = current === undefined ? undefined : file.text
      return planChange(
        { path, current, bytes: file.encode(after), texts: { before, after }, createDirs: createIfMissing },
        context,
      )
    },
    run: (_input, context) => makeChange(context),
  })
}

const editSchema = {
  type: 'object',
  properties: {
    old: { type: 'string', description: 'Text to replace, exactly as it is in the file; may span lines.' },
    new: { type: 'string', description: 'Text to put there.' },
    replace_all: { type: 'boolean', description: 'Replace every occurrence. Default: false.' },
  },
  required: ['old', 'new'],
  additionalProperties: false,
} as const

const inputSchema = {
  type: 'object',
  properties: {
    path: pathField,
    edits: {
      type: 'array',
      minItems: 1,
      maxItems: 200,
      description: 'Applied in order. Give these or unified_diff, not both.',
      items: editSchema,
    },
    unified_diff: {
      type: 'string',
      minLength: 1,
      description:
        'A diff of this file only, with exact context and line counts; no rename, deletion or mode change.',
    },
    create_if_missing: {
      type: 'boolean',
      default: false,
      description: 'Start from an empty file where there is none.',
    },
  },
  required: ['path'],
  additionalProperties: false,
} as const

function toChange(
  edits: readonly { old: string; new: string; replace_all?: boolean }[] | undefined,
  diff: string | undefined,
): Change {
  if (edits !== undefined && diff === undefined) return { kind: 'edits', edits: toEdits(edits) }
  if (edits === undefined && diff !== undefined) {
    return { kind: 'diff', diff: requireWellFormed(diff, 'unified_diff') }
  }
  throw invalidInput('Give either "edits" or "unified_diff": exactly one of them.')
}

/** An edit that changes nothing beside others that do is harmless; its text has to be there like that of any other. */
function toEdits(edits: readonly { old: string; new: string; replace_all?: boolean }[]): Edit[] {
  if (edits.every((edit) => edit.old === edit.new))
    throw invalidInput(
      'In every edit "old" and "new" are the same, so nothing would change. Give the text as it should be in "new".',
    )
  return edits.map((edit) => ({
    old: edit.old,
    new: requireWellFormed(edit.new, 'new'),
    replaceAll: edit.replace_all ?? false,
  }))
}

function toTextFile(current: CurrentFile | undefined, name: string): TextFile {
  if (current === undefined) return emptyTextFile
  const file = decodeTextFile(current.bytes)
  if (file !== undefined) return file
  throw new ToolFailure({
    reason: 'binary_file',
    message: `"${name}" is not text in UTF-8 or UTF-16, so an edit could damage it. Use a program that knows its format.`,
    data: { path: name, bytes: current.bytes.length, digest: current.digest },
  })
}

/** A diff may name the file as the call did, even where that is a link. */
function showAsked(path: string): string {
  return path.replace(/^(?:\.\/)+/, '')
}
