// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export {
  openAiAgents,
  type AgentAnswer,
  type AgentInterruption,
  type AgentRunState,
  type OpenAiAgentsDoor,
} from './doors/openai-agents/openai-agents.ts'
export type {
  AgentOutputPart,
  AgentParameters,
  OpenAiAgentTool,
} from './doors/openai-agents/to-agent-tool.ts'
