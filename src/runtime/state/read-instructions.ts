import type { InstructionBlock } from '../../contract/services/instructions.ts'
import type { ToolResult } from '../../contract/base/result.ts'

/** The instructions that one session has read. */
export interface ReadInstructions {
  /** The oldest first. */
  list(): readonly InstructionBlock[]
  /** A call has read such a file; whether it ends well is not known yet. */
  expect(call: string, file: Pick<InstructionBlock, 'path' | 'scope' | 'digest'>): void
  /** The call has ended. Returns the block if it is new or has changed. */
  settle(result: ToolResult, at: number): InstructionBlock | undefined
}
