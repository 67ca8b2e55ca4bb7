import type { CommandsConfiguration, Configuration } from '../../contract/configuration.ts'
import type { Tool } from '../../contract/tool/tool.ts'
import { copyPathTool } from './files/copy-path.ts'
import { deletePathTool } from './files/delete-path.ts'
import { editFileTool } from './edit/edit-file.ts'
import { editNotebookTool } from './notebook/edit-notebook.ts'
import { enterWorktreeTool } from './worktree/enter-worktree.ts'
import { exitWorktreeTool } from './worktree/exit-worktree.ts'
import { globTool } from './search/glob.ts'
import { listDirTool } from './files/list-dir.ts'
import { lspTool } from './lsp/lsp.ts'
import { movePathTool } from './files/move-path.ts'
import { readFileTool } from './files/read-file.ts'
import { runCommandTool } from './commands/run-command.ts'
import { runShellTool } from './commands/run-shell.ts'
import { searchTool } from './search/search.ts'
import { undoTool } from './undo/undo.ts'
import { writeFileTool } from './files/write-file.ts'

/** The built-in tools of the group `code`, in order of their names. `code.run_shell` only if it is asked for. */
export function codeTools({
  shell = false,
  commands = {},
  languageServers,
}: {
  shell?: boolean | undefined
  commands?: CommandsConfiguration | undefined
  languageServers?: Configuration['languageServers'] | undefined
} = {}): Tool[] {
  return [
    copyPathTool(),
    deletePathTool(),
    editFileTool(),
    editNotebookTool(),
    enterWorktreeTool(),
    exitWorktreeTool(),
    globTool(),
    listDirTool(),
    lspTool(languageServers),
    movePathTool(),
    readFileTool(),
    runCommandTool(commands),
    ...(shell ? [runShellTool(commands)] : []),
    searchTool(),
    undoTool(),
    writeFileTool(),
  ]
}
