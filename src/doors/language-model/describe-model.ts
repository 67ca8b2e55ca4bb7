import type { AgentModel } from '../../contract/agent-run.ts'
import type { SessionModel } from '../../contract/base/call.ts'
import { providerNames, type NameLimits } from '../../kit/names/name-codec.ts'
import type { RuleQuery } from '../rules/find-rules.ts'
import type { ModelApi } from '../rules/rule.ts'

/** What of a language model says how its provider takes tools. */
interface ModelDescription {
  readonly provider: string
  readonly query: RuleQuery
  /** In the words of manifests. */
  readonly model: SessionModel
  readonly names: NameLimits
}

/** By the first part of what the provider packages of the AI SDK call themselves, such as `anthropic.messages`. */
const known: readonly {
  readonly starts: RegExp
  readonly name: string
  readonly api: ModelApi
  readonly names: NameLimits
}[] = [
  {
    starts: /^(?:vertex\.)?anthropic\b/,
    name: 'Anthropic',
    api: 'anthropic-messages',
    names: providerNames.anthropic,
  },
  {
    starts: /^(?:azure-)?openai\.(?:responses|chat)?/,
    name: 'OpenAI',
    api: 'openai-responses',
    names: providerNames.openai,
  },
  { starts: /^google\b/, name: 'Google', api: 'google-generate-content', names: providerNames.gemini },
  { starts: /^amazon-bedrock\b/, name: 'Bedrock', api: 'bedrock-converse', names: providerNames.bedrock },
]

/** What a provider is known to take. All others speak the API of OpenAI's Chat Completions, under the narrowest names. */
export function describeModel({ provider, modelId: model }: AgentModel): ModelDescription {
  const found = known.find(({ starts }) => starts.test(provider))
  const named = { provider: provider.split('.')[0] ?? provider, name: model }
  if (found === undefined)
    return { provider, query: { api: 'openai-chat', model }, model: named, names: providerNames.gemini }
  const { name, names } = found
  const api = found.api === 'openai-responses' && provider.endsWith('.chat') ? 'openai-chat' : found.api
  return { provider: name, query: { api, model }, model: named, names }
}
