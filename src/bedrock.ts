// First, so that an older Node is told before anything else fails on it.
export {} from './kit/require-node.ts'
export { bedrock, type BedrockDoor, type BedrockOptions } from './doors/bedrock/bedrock.ts'
export type {
  BedrockAnswer,
  BedrockContent,
  BedrockDocument,
  BedrockReply,
  BedrockTool,
  BedrockToolResult,
} from './doors/bedrock/messages.ts'
