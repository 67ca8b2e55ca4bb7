import type { Tool } from '../../contract/tool.ts'
import { editFileTool } from './edit-file.ts'
import { editNotebookTool } from './edit-notebook.ts'
import { globTool } from './glob.ts'
import { listDirTool } from './list-dir.ts'
import { readFileTool } from './read-file.ts'
import { runCommandTool } from './run-command.ts'
import { searchTool } from './search.ts'
import { writeFileTool } from './write-file.ts'

/** The built-in tools of the group `code`, in order of their names. */
export function codeTools(): Tool[] {
  return [
    editFileTool(),
    editNotebookTool(),
    globTool(),
    listDirTool(),
    readFileTool(),
    runCommandTool(),
    searchTool(),
    writeFileTool(),
  ]
}
