import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Tool } from '../../../contract/tool/tool.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { pathField, changesFiles } from '../base/fields.ts'
import { showPath } from '../base/show-path.ts'
import { checkEntry, operationsOn, showTree, sizeOf, surveyPath, treeBounds } from './survey-path.ts'

/** `code.delete_path`: a file, a link or a folder; one with something in it only if that is asked for. */
export function deletePathTool(): Tool {
  return defineBuiltin({
    name: 'code.delete_path',
    title: 'Delete file or folder',
    description:
      'Deletes a file, a link (not what it leads to) or an empty folder; with recursive a folder and all in it, at most 2000 files and folders. Fails with not_empty for a folder with something in it without recursive.',
    ...changesFiles,
    limits: { timeoutMs: 120_000, maxFiles: treeBounds.maxEntries, maxDepth: treeBounds.maxDepth },
    input: {
      type: 'object',
      properties: {
        path: pathField,
        recursive: {
          type: 'boolean',
          default: false,
          description: 'Delete a folder with all that is in it.',
        },
      },
      required: ['path'],
      additionalProperties: false,
    },
    output: outputSchema,
    decode: (input) => input,
    async plan({ path: asked, recursive }, { files, project }) {
      const tree = await surveyPath(files, asked, { project, purpose: 'write' })
      const name = showPath(project, tree.path)
      if (tree.entries.length > 1 && !recursive) throw notEmpty(name, tree.entries.length - 1)
      // No scope: a yes for the session is one for this very path, not for all that lies beside it.
      return {
        operations: operationsOn(tree, tree.path, 'fs.write'),
        preview: { kind: 'text', title: `Delete ${name} (${sizeOf(tree)})`, body: showTree(tree, name) },
        planned: tree,
      }
    },
    async run({ recursive }, { files, project, planned: tree }) {
      await checkEntry(files, tree.path, 'write')
      await files.remove(tree.path, { ...treeBounds, expect: tree.digest, recursive })
      const name = showPath(project, tree.path)
      const summary = `Deleted ${name} (${sizeOf(tree)})`
      return toolOutput({
        content: `${summary}.`,
        summary,
        data: { path: name, entries: tree.entries.length, files: tree.files, bytes: tree.bytes },
      })
    },
  })
}

function notEmpty(path: string, entries: number): ToolFailure {
  return new ToolFailure({
    reason: 'not_empty',
    message: `"${path}" is a folder with ${entries} things in it; nothing was deleted. Set recursive to delete all of it.`,
    data: { path, entries },
  })
}

const outputSchema = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    entries: { type: 'integer', description: 'Files, folders and links, the top one too.' },
    files: { type: 'integer' },
    bytes: { type: 'integer', description: 'Bytes of the files together.' },
  },
  required: ['path', 'entries', 'files', 'bytes'],
  additionalProperties: false,
} as const
