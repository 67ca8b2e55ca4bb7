// First, so that an older Node is told before anything else fails on it.
export {} from './kit/require-node.ts'
export { anthropic, type AnthropicDoor, type AnthropicOptions } from './doors/anthropic/anthropic.ts'
export type {
  AnthropicCacheControl,
  AnthropicMessage,
  AnthropicReply,
  AnthropicResultContent,
  AnthropicSource,
  AnthropicTool,
  AnthropicToolResult,
} from './doors/anthropic/messages.ts'
