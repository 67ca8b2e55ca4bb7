import type { Tool } from '../../../contract/tool/tool.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { changesFiles } from '../base/fields.ts'
import { treeBounds } from './survey-path.ts'
import { planTransfer, runTransfer, transferInput, transferOutput } from './transfer.ts'

/** `code.copy_path`: a file or folder to another place, whole or not at all. */
export function copyPathTool(): Tool {
  return defineBuiltin({
    name: 'code.copy_path',
    title: 'Copy file or folder',
    description:
      'Copies a file, or a folder with all in it: all of it or nothing. Links are copied as links. Fails with path_conflict where something is at the target, unless overwrite is true and it is a file. At most 2000 files and folders, and 1 GiB.',
    ...changesFiles,
    limits: { timeoutMs: 300_000, maxFiles: treeBounds.maxEntries, maxDepth: treeBounds.maxDepth },
    input: transferInput,
    output: transferOutput,
    decode: ({ create_dirs, ...input }) => ({ ...input, createDirs: create_dirs }),
    plan: (input, context) => planTransfer('copy', input, context),
    run: (_input, context) => runTransfer('copy', context),
  })
}
