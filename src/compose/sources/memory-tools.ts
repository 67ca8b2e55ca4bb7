import type { MemoryOptions } from '../../contract/services/memory.ts'
import type { ToolSource } from '../../contract/tool/tool.ts'
import { memoryTools as listMemoryTools } from '../../tools/memory/tools.ts'

/** The built-in tools for memory, with the options that `createRuntime` gets as `memory`. What these leave no memory for is not there. */
export function memoryTools(options: MemoryOptions = {}): ToolSource {
  const tools = listMemoryTools(options)
  return { id: 'builtin.memory', kind: 'builtin', list: () => tools }
}
