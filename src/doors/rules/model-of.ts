import type { SessionModel } from '../../contract/base/call.ts'
import type { RuleQuery } from './find-rules.ts'
import type { ModelApi } from './rule.ts'

/** Whose API it is, as the packages of the AI SDK call them too. */
const providers: { readonly [api in ModelApi]: string } = {
  'anthropic-messages': 'anthropic',
  'openai-responses': 'openai',
  'openai-chat': 'openai',
  'google-generate-content': 'google',
  'bedrock-converse': 'amazon-bedrock',
}

/** The model that an API is asked for, in the words of manifests. */
export function modelOf({ api, model: name }: RuleQuery): SessionModel {
  return { provider: providers[api], ...(name !== undefined && { name }) }
}
