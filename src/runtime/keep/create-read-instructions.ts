import type { ReadInstructions } from '../state/read-instructions.ts'
import type { InstructionBlock } from '../../contract/services/instructions.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

const maxBlocks = 50
const maxLetters = 64 * 1024

/** A shelf that is empty. */
export function createReadInstructions(): ReadInstructions {
  const blocks = new Map<string, InstructionBlock>()
  const expected = new Map<string, Pick<InstructionBlock, 'path' | 'scope' | 'digest'>>()
  return {
    list: () => [...blocks.values()],
    expect: (call, file) => void expected.set(call, file),
    settle(result, at) {
      if (expected.size === 0) return undefined
      const file = expected.get(result.callId)
      if (file === undefined) return undefined
      expected.delete(result.callId)
      const content = isPlainObject(result.data) ? result.data['content'] : undefined
      if (!result.ok || typeof content !== 'string') return undefined
      const known = blocks.get(file.path)
      const text = content.slice(0, maxLetters).toWellFormed()
      if (known?.digest === file.digest && known.text === text) return undefined
      const block = { ...file, text, truncated: content.length > maxLetters, call: result.callId, at }
      blocks.delete(file.path)
      blocks.set(file.path, Object.freeze(block))
      const [oldest] = blocks.keys()
      if (blocks.size > maxBlocks && oldest !== undefined) blocks.delete(oldest)
      return block
    },
  }
}
