import type { CommandsConfiguration, Configuration } from '../../contract/configuration.ts'
import type { Tool } from '../../contract/tool.ts'
import { copyPathTool } from './copy-path.ts'
import { deletePathTool } from './delete-path.ts'
import { editFileTool } from './edit-file.ts'
import { editNotebookTool } from './edit-notebook.ts'
import { enterWorktreeTool } from './enter-worktree.ts'
import { exitWorktreeTool } from './exit-worktree.ts'
import { globTool } from './glob.ts'
import { listDirTool } from './list-dir.ts'
import { lspTool } from './lsp.ts'
import { movePathTool } from './move-path.ts'
import { readFileTool } from './read-file.ts'
import { runCommandTool } from './run-command.ts'
import { runShellTool } from './run-shell.ts'
import { searchTool } from './search.ts'
import { writeFileTool } from './write-file.ts'

/** The built-in tools of the group `code`, in order of their names. `code.run_shell` only where it is asked for. */
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
    writeFileTool(),
  ]
}
