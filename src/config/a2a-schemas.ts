import { modes, roles } from '../contract/base/principal.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import { count, described, flag, list, object, someTexts, text, texts } from './base/schema-parts.ts'

const agent = object(
  {
    card: described(text, 'URL of its agent card.'),
    tools: object(
      {
        allow: described(someTexts, 'Only these are imported. Default: all.'),
        deny: described(texts, 'These are not imported.'),
        readonly: described(texts, 'These only read, says the operator. Default: none.'),
      },
      { description: 'Patterns of its own names of skills.' },
    ),
    headers: {
      type: 'object',
      additionalProperties: text,
      description:
        'Sent with each request; ${NAME} is the environment variable of that name. With an Authorization, no token of ours is sent.',
    },
    tenants: described(someTexts, 'Only these tenants have its tools. Default: all.'),
    timeoutMs: described(count, 'Time limit of a call. Default: that of limits.'),
    defer: described(
      flag,
      'Whether models are not shown its tools until tools.search finds them. Default false.',
    ),
  },
  { description: 'An agent of another domain, or another Handrail.', required: ['card'] },
)

/** `a2a` of `config.json`. */
export const a2aSchema: JsonSchema = object(
  {
    issuer: described(text, 'Who this Handrail is to them: the "iss" of the tokens of its calls.'),
    issuers: {
      type: 'object',
      additionalProperties: text,
      description: 'The "iss" of single tenants, by tenant.',
    },
    agents: { type: 'object', additionalProperties: agent, description: 'Agents by name.' },
  },
  { description: 'Agents of other domains, whose skills are tools here.', required: ['issuer', 'agents'] },
)

const publicKey = object(
  {
    kty: { enum: ['OKP', 'EC'], description: 'OKP for Ed25519, EC for P-256.' },
    crv: { enum: ['Ed25519', 'P-256'], description: 'The curve.' },
    kid: described(text, 'Its id, which tokens name.'),
    x: described(text, 'The key, or its x coordinate.'),
    y: described(text, 'The y coordinate of a key on P-256.'),
    alg: described(text, 'What it signs with.'),
    use: { enum: ['sig'], description: 'Signatures.' },
  },
  {
    description: 'A public key (RFC 7517). "handrail a2a keys" shows those of another Handrail.',
    required: ['kty', 'crv', 'kid', 'x'],
  },
)

const peer = object(
  {
    issuer: described(text, 'The "iss" of its tokens. Unique.'),
    keys: { ...list(publicKey, 'Its public keys.'), minItems: 1 },
    jwksUri: described(text, 'Where its public keys are, in the place of keys.'),
    actor: described(text, 'Who calls, here.'),
    tenant: described(text, 'Default "local".'),
    role: { enum: [...roles], description: 'Default "main".' },
    mode: { enum: [...modes], description: "Default: the policy's mode." },
    allowedTools: described(
      texts,
      'Patterns of the tools that it may have, of those that are open. Default: all.',
    ),
    disallowedTools: described(texts, 'Patterns of tools that it does not have.'),
  },
  { description: 'Another domain whose calls are taken.', required: ['issuer', 'actor'] },
)

/** `a2a` of `gateway.json`. */
export const a2aServingSchema: JsonSchema = object(
  {
    url: described(
      text,
      'The URL of this endpoint as peers know it: the audience of their tokens. Default: /a2a where MCP is served.',
    ),
    name: described(text, 'As the agent card says it. Default "Handrail".'),
    description: described(text, 'As the agent card says it.'),
    tools: described(someTexts, 'Patterns of the tools that are open to peers. No other can be called.'),
    peers: { ...list(peer, 'Who may call.'), minItems: 1 },
  },
  {
    description: 'Which tools other domains may call over A2A, and who they are.',
    required: ['tools', 'peers'],
  },
)
