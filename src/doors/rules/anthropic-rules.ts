import type { ProviderRule } from './rule.ts'
import { claudeKey, combinators } from './shared-words.ts'

const claudeDocs =
  'https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations'

/** What the Messages API of Anthropic takes. */
export const anthropicRules: readonly ProviderRule[] = [
  {
    api: 'anthropic-messages',
    rule: { kind: 'tool-name', pattern: /^[a-zA-Z0-9_-]{1,128}$/ },
    source: 'https://github.com/home-assistant/core/issues/147760',
  },
  {
    api: 'anthropic-messages',
    rule: { kind: 'call-id', pattern: /^[a-zA-Z0-9_-]+$/ },
    source: 'https://platform.claude.com/docs/en/api/messages/create',
  },
  {
    api: 'anthropic-messages',
    rule: { kind: 'paired' },
    source: 'https://github.com/anthropics/claude-code/issues/12526',
  },
  {
    api: 'anthropic-messages',
    rule: { kind: 'results-first' },
    source: 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls',
  },
  {
    api: 'anthropic-messages',
    rule: { kind: 'root', without: combinators },
    source: 'https://github.com/anthropics/claude-code/issues/27337',
  },
  {
    api: 'anthropic-messages',
    rule: { kind: 'property-key', pattern: claudeKey },
    source: 'https://github.com/ComposioHQ/composio/issues/3500',
  },
  {
    api: 'anthropic-messages',
    strict: true,
    rule: {
      kind: 'keywords',
      known: [
        '$defs',
        '$ref',
        'additionalProperties',
        'anyOf',
        'const',
        'default',
        'description',
        'enum',
        'format',
        'items',
        'minItems',
        'pattern',
        'properties',
        'required',
        'title',
        'type',
      ],
    },
    source: claudeDocs,
  },
  { api: 'anthropic-messages', strict: true, rule: { kind: 'min-items', max: 1 }, source: claudeDocs },
  {
    api: 'anthropic-messages',
    strict: true,
    rule: { kind: 'enum', of: ['string', 'number', 'boolean', 'null'] },
    source: claudeDocs,
  },
  {
    api: 'anthropic-messages',
    strict: true,
    rule: {
      kind: 'formats',
      known: ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
    },
    source: claudeDocs,
  },
  {
    api: 'anthropic-messages',
    strict: true,
    // Word boundaries, references back to a group, and looks ahead or behind.
    rule: { kind: 'patterns', without: /\\[bB1-9]|\\k<|\(\?(?:[=!]|<[=!])/ },
    source: claudeDocs,
  },
  { api: 'anthropic-messages', strict: true, rule: { kind: 'closed-objects' }, source: claudeDocs },
  { api: 'anthropic-messages', strict: true, rule: { kind: 'no-recursion' }, source: claudeDocs },
  {
    api: 'anthropic-messages',
    strict: true,
    rule: { kind: 'strict-tools', max: 20 },
    source: claudeDocs,
  },
  {
    api: 'anthropic-messages',
    strict: true,
    rule: { kind: 'strict-optional', max: 24 },
    source: 'https://github.com/alphaXiv/agents/pull/51',
  },
  {
    api: 'anthropic-messages',
    strict: true,
    rule: { kind: 'strict-unions', max: 16 },
    source: 'https://github.com/mozilla/bugbug/pull/6129',
  },
]
