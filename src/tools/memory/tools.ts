import type { MemoryOptions } from '../../contract/services/memory.ts'
import type { Tool } from '../../contract/tool/tool.ts'
import { recallMemoryTool } from './recall-memory.ts'
import { writeMemoryTool } from './write-memory.ts'

/** The built-in tools for memory, in order of their names. */
export function memoryTools(options: MemoryOptions): Tool[] {
  return [recallMemoryTool(options), writeMemoryTool(options)]
}
