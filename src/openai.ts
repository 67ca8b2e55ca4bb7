// First, so that an older Node is told before anything else fails on it.
export {} from './kit/require-node.ts'
export { openaiChat, type OpenAIChatDoor } from './doors/openai/chat.ts'
export type {
  OpenAIChatAnswer,
  OpenAIChatContent,
  OpenAIChatReply,
  OpenAIChatTool,
  OpenAIFoundTool,
  OpenAIFunctionOutput,
  OpenAIFunctionTool,
  OpenAIParameters,
  OpenAIResponse,
  OpenAIResponsesContent,
  OpenAIResponsesReply,
  OpenAIResponsesTool,
  OpenAISearchOutput,
  OpenAISearchTool,
} from './doors/openai/messages.ts'
export {
  openaiResponses,
  type OpenAIOptions,
  type OpenAIResponsesDoor,
  type OpenAIResponsesOptions,
} from './doors/openai/responses.ts'
