import type { ProviderRule, Rule } from './rule.ts'
import { combinators, plainName } from './shared-words.ts'

const openaiDocs = 'https://platform.openai.com/docs/guides/structured-outputs#supported-schemas'

/** Models of others, as gateways name them: their providers make their own rules for strict tools. */
const elsewhere = /^(?!openai\/)[\w.-]+\//

/** What both APIs take of any tool. */
const common: readonly Omit<ProviderRule, 'api'>[] = [
  {
    rule: { kind: 'tool-name', pattern: plainName },
    source: 'https://github.com/anomalyco/opencode/issues/3523',
  },
  {
    rule: { kind: 'tool-description', maxLength: 1_024 },
    source: 'https://github.com/nanbingxyz/5ire/issues/33',
  },
  {
    rule: { kind: 'call-id', pattern: /^[^]{1,64}$/ },
    source: 'https://github.com/orchidfiles/ungate/issues/26',
  },
  {
    rule: { kind: 'root', without: [...combinators, 'enum', 'const', 'not'], properties: true },
    source: 'https://github.com/langchain-ai/langchainjs/issues/9804',
  },
  { rule: { kind: 'paired' }, source: 'https://platform.openai.com/docs/guides/function-calling' },
  { rule: { kind: 'items' }, source: 'https://github.com/sigoden/aichat/pull/1049' },
]

/** What both APIs take of strict tools. */
const strict: readonly Rule[] = [
  {
    kind: 'keywords',
    known: [
      '$defs',
      '$ref',
      'additionalProperties',
      'anyOf',
      'const',
      'description',
      'enum',
      'exclusiveMaximum',
      'exclusiveMinimum',
      'format',
      'items',
      'maxItems',
      'maximum',
      'minItems',
      'minimum',
      'multipleOf',
      'pattern',
      'properties',
      'required',
      'title',
      'type',
    ],
  },
  {
    kind: 'formats',
    known: ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
  },
  { kind: 'closed-objects' },
  { kind: 'all-required' },
  { kind: 'typed' },
  { kind: 'depth', max: 10 },
  { kind: 'property-count', max: 5_000 },
  { kind: 'enum-count', max: 1_000 },
  { kind: 'text-length', max: 120_000 },
  { kind: 'enum-length', above: 250, max: 15_000 },
]

const chat: readonly ProviderRule[] = [
  {
    api: 'openai-chat',
    rule: { kind: 'tool-count', max: 128 },
    source: 'https://github.com/zed-industries/zed/issues/42393',
  },
  {
    api: 'openai-chat',
    rule: { kind: 'call-count', max: 128 },
    source: 'https://github.com/gptscript-ai/gptscript/issues/547',
  },
  {
    api: 'openai-chat',
    rule: { kind: 'result-content', types: ['text', 'image_url'] },
    source: 'https://platform.openai.com/docs/api-reference/chat/create#chat-create-messages',
  },
  {
    api: 'openai-chat',
    model: /mistral/i,
    rule: { kind: 'call-id', pattern: /^[a-zA-Z0-9]{9}$/ },
    source: 'https://github.com/nearai/ironclaw/issues/1241',
  },
]

/** What the Responses API and Chat Completions of OpenAI take, and those who speak the latter. */
export const openaiRules: readonly ProviderRule[] = [
  ...(['openai-chat', 'openai-responses'] as const).flatMap((api): readonly ProviderRule[] => [
    ...common.map((row) => ({ api, ...row })),
    ...strict.map((rule) => ({ api, strict: true as const, notModel: elsewhere, rule, source: openaiDocs })),
  ]),
  ...chat,
]
