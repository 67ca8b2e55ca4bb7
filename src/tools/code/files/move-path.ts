import type { Tool } from '../../../contract/tool/tool.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { changesFiles } from '../base/fields.ts'
import { treeBounds } from './survey-path.ts'
import { planTransfer, runTransfer, transferInput, transferOutput } from './transfer.ts'

/** `code.move_path`: a file or folder to another name, never losing it on the way. */
export function movePathTool(): Tool {
  return defineBuiltin({
    name: 'code.move_path',
    title: 'Move file or folder',
    description:
      'Moves or renames a file, or a folder with all in it. Fails with path_conflict where something is at the target, unless overwrite is true and it is a file. At most 2000 files and folders.',
    ...changesFiles,
    limits: { timeoutMs: 300_000, maxFiles: treeBounds.maxEntries, maxDepth: treeBounds.maxDepth },
    input: transferInput,
    output: transferOutput,
    decode: ({ create_dirs, ...input }) => ({ ...input, createDirs: create_dirs }),
    plan: (input, context) => planTransfer('move', input, context),
    run: (_input, context) => runTransfer('move', context),
  })
}
