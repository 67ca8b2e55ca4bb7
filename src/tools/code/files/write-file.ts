import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Tool } from '../../../contract/tool/tool.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { pathField, changesFiles } from '../base/fields.ts'
import { requireWellFormed } from '../base/invalid-input.ts'
import { changeSchema, makeChange, planChange, readCurrent } from './plan-change.ts'
import { requireDirectory } from './require-directory.ts'
import { showPath } from '../base/show-path.ts'
import { decodeTextFile } from './text-file.ts'

/** `code.write_file`: a whole file in UTF-8, in one step. What is there already stays, unless overwriting is asked for. */
export function writeFileTool(): Tool {
  return defineBuiltin({
    name: 'code.write_file',
    title: 'Write file',
    description:
      'Writes a whole text file in UTF-8. Fails with path_conflict where the file exists, unless overwrite is true. Makes missing directories. To change a part of a file, use code.edit_file.',
    ...changesFiles,
    limits: { maxFiles: 1 },
    input: {
      type: 'object',
      properties: {
        path: pathField,
        content: { type: 'string', description: 'The whole content, written as it is.' },
        create_dirs: { type: 'boolean', default: true, description: 'Make missing directories.' },
        overwrite: { type: 'boolean', default: false, description: 'Replace a file that exists.' },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    output: changeSchema,
    compatible: {
      name: 'Write',
      description: 'Writes a whole text file in UTF-8, replacing one that exists. Makes missing directories.',
      inputSchema: {
        type: 'object',
        properties: { file_path: pathField, content: { type: 'string' } },
        required: ['file_path', 'content'],
        additionalProperties: false,
      },
      toCanonical: ({ file_path, content }) => ({
        path: file_path ?? '',
        content: content ?? '',
        overwrite: true,
      }),
    },
    decode: (input) => ({
      path: input.path,
      content: requireWellFormed(input.content, 'content'),
      createDirs: input.create_dirs,
      overwrite: input.overwrite,
    }),
    async plan({ path: asked, content, createDirs, overwrite }, context) {
      const { files } = context
      const path = await files.resolve(asked, 'write')
      const current = await readCurrent(files, path)
      if (current !== undefined && !overwrite) throw pathConflict(showPath(context.project, path))
      if (!createDirs) await requireDirectory(files, context.project, path)
      const before = current === undefined ? undefined : decodeTextFile(current.bytes)?.text
      return planChange(
        { path, current, bytes: Buffer.from(content), texts: { before, after: content }, createDirs },
        context,
      )
    },
    run: (_input, context) => makeChange(context),
  })
}

function pathConflict(path: string): ToolFailure {
  return new ToolFailure({
    reason: 'path_conflict',
    message: `"${path}" exists already; nothing was written. Change it with code.edit_file, or set overwrite to replace the whole of it.`,
    data: { path },
  })
}
