import { anthropicRules } from './anthropic-rules.ts'
import { bedrockRules } from './bedrock-rules.ts'
import { googleRules } from './google-rules.ts'
import { openaiRules } from './openai-rules.ts'
import type { ProviderRule } from './rule.ts'

/** What the APIs are known to refuse. */
export const providerRules: readonly ProviderRule[] = [
  ...anthropicRules,
  ...bedrockRules,
  ...googleRules,
  ...openaiRules,
]
