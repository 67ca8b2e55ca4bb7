import type { ProviderRule } from './rule.ts'
import { claudeKey, combinators, plainName } from './shared-words.ts'

const bedrockTool =
  'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html'

/** What the Converse API of Bedrock takes. */
export const bedrockRules: readonly ProviderRule[] = [
  { api: 'bedrock-converse', rule: { kind: 'tool-name', pattern: plainName }, source: bedrockTool },
  {
    api: 'bedrock-converse',
    rule: { kind: 'call-id', pattern: plainName },
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html',
  },
  {
    api: 'bedrock-converse',
    rule: { kind: 'paired' },
    source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-inference-call.html',
  },
  // Whichever model answers: Claude takes no less here than elsewhere.
  {
    api: 'bedrock-converse',
    rule: { kind: 'root', without: combinators },
    source: 'https://github.com/anthropics/claude-code/issues/27337',
  },
  {
    api: 'bedrock-converse',
    rule: { kind: 'property-key', pattern: claudeKey },
    source: 'https://github.com/ComposioHQ/composio/issues/3500',
  },
]
