import { modes, roles } from '../contract/base/principal.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import { consoleRoles } from '../contract/mcp/console-login.ts'
import type { WebhookEventName } from '../contract/mcp/serving.ts'
import { a2aServingSchema } from './a2a-schemas.ts'
import { configurationSchema } from './file-schemas.ts'
import { policySchema } from './policy/policy-schema.ts'
import { serversSchema } from './servers/upstream-schema.ts'
import { count, described, list, object, someTexts, text, texts } from './base/schema-parts.ts'

/** In the order of the documents. */
const webhookEvents: readonly WebhookEventName[] = [
  'approval.requested',
  'approval.decided',
  'approval.expired',
]

/** What sessions of a caller are opened with, however it says who it is. */
const session = {
  tenant: described(text, 'Default "local".'),
  role: { enum: [...roles], description: 'Default "main".' },
  mode: { enum: [...modes], description: "Default: the policy's mode." },
  model: object(
    {
      provider: described(text, 'Such as "anthropic".'),
      name: described(text, 'Default: any of its provider.'),
    },
    { description: 'The model that it works with. Default: tools for every model.', required: ['provider'] },
  ),
  allowedTools: described(texts, 'Patterns of the tools that it may have. Default: all.'),
  disallowedTools: described(texts, 'Patterns of tools that it does not have.'),
} satisfies { [name: string]: JsonSchema }

const token = object(
  {
    id: described(text, 'Shown in logs and messages. Unique.'),
    sha256: {
      type: 'string',
      pattern: '^[0-9a-fA-F]{64}$',
      description: 'SHA-256 of the token, in hexadecimal. "handrail token" makes both.',
    },
    expiresAt: described(text, 'ISO 8601 with zone, such as "2027-01-31T00:00:00Z". Default: never.'),
    metrics: {
      type: 'boolean',
      description: 'Whether it may read /metrics, which counts the calls of all tenants. Default false.',
    },
    approver: {
      type: 'boolean',
      description:
        'Whether it may see what waits for a person in its tenant, and answer as its actor. Default false.',
    },
    actor: described(text, 'Who calls.'),
    ...session,
  },
  { description: 'A bearer token given out by hand.', required: ['id', 'sha256', 'actor'] },
)

const oauth = object(
  {
    issuer: described(text, 'The "iss" of the tokens; its keys are found through its metadata.'),
    resource: described(text, 'The URL of this MCP endpoint as clients know it: the audience of the tokens.'),
    jwksUri: described(text, 'Where its keys are, where the metadata does not say.'),
    scopes: described(someTexts, 'Scopes that every token must have. Default: none.'),
    approverScopes: described(
      someTexts,
      'Scopes with which a token may see what waits for a person in its tenant, and answer as its actor. Default: no token may.',
    ),
    tenantClaim: described(text, 'The claim that names the tenant. Default: all are of "tenant".'),
    actorClaim: described(text, 'The claim that names the actor. Default "sub".'),
    ...session,
  },
  {
    description: 'Access tokens of an authorization server, as JSON Web Tokens made for this server.',
    required: ['issuer', 'resource'],
  },
)

const webhook = object(
  {
    url: described(
      text,
      'Where to post. No redirect is followed; the own network only where network.privateHosts names it.',
    ),
    secret: described(
      text,
      'Name of the environment variable with the signing secret: "whsec_" and the base64 of 24 to 64 bytes.',
    ),
    tenants: described(someTexts, 'Patterns of tenants. Default: all.'),
    events: {
      type: 'array',
      items: { enum: [...webhookEvents] },
      minItems: 1,
      description: 'What it is told of. Default: all.',
    },
    format: { enum: ['standard', 'slack'], description: 'Default "standard".' },
    preview: { type: 'boolean', description: 'Whether the body of the preview is sent too. Default false.' },
    retryMs: {
      type: 'array',
      items: { type: 'integer', minimum: 1, maximum: 3_600_000 },
      maxItems: 10,
      description: 'Pauses before further tries. Default [5000, 30000, 120000, 600000].',
    },
  },
  { description: 'A receiver of what happens to approvals.', required: ['url'] },
)

const consoleRule = object(
  {
    claim: described(
      text,
      'The name of a claim of the person; from "/" on a JSON pointer, such as "/realm_access/roles".',
    ),
    value: described(text, 'What the claim is, or has among its texts.'),
    role: {
      enum: [...consoleRoles],
      description:
        'What they may do: see, answer approvals too, change tools and consents too, or end visits of others too.',
    },
    tenants: described(someTexts, 'In which tenants: their ids, or ["*"] for every one.'),
  },
  {
    description: 'Gives a role to persons. Of several that fit, all count.',
    required: ['claim', 'value', 'role', 'tenants'],
  },
)

const login = object(
  {
    issuer: described(text, 'The "iss" of its tokens; the rest is found through its metadata.'),
    clientId: described(text, 'As the provider knows this console.'),
    clientSecret: described(
      text,
      'Name of the environment variable with the secret of the client. Default: none, for a public client.',
    ),
    scopes: described(texts, 'What is asked for beside "openid". Default ["profile", "email"].'),
    actorClaim: described(
      text,
      'The claim that tells persons apart, and never becomes that of another one. Default "sub".',
    ),
    name: described(text, 'How the button names the provider. Default: the host of the issuer.'),
    rules: {
      ...list(consoleRule, 'Who may do what. Who fits none of them does not get in.'),
      minItems: 1,
    },
  },
  {
    description: 'An OpenID provider at which persons log in.',
    required: ['issuer', 'clientId', 'rules'],
  },
)

const consoleServing = object(
  {
    url: described(
      text,
      'The origin under which browsers know the console, such as "https://tools.example". The provider leads back to /enter/callback there.',
    ),
    login,
  },
  {
    description: 'Who gets into the console beside the person at this machine.',
    required: ['url', 'login'],
  },
)

const gatewayFields: { readonly [field: string]: JsonSchema } = {
  $schema: text,
  host: described(
    text,
    'Address to listen on; others than loopback ones need tokens or oauth. Default 127.0.0.1.',
  ),
  port: { type: 'integer', minimum: 0, maximum: 65_535, description: 'Default 7420; 0 is any free one.' },
  allowedHosts: described(texts, 'Values of the Host header beside loopback ones.'),
  allowedOrigins: described(
    texts,
    'Values of the Origin header beside loopback ones. Pages of these origins may connect.',
  ),
  tokens: { ...list(token, 'Who may connect, by tokens given out by hand.'), minItems: 1 },
  oauth,
  requestsPerMinute: described(count, 'Requests of one caller in a minute. Default: no limit.'),
  maxRequests: described(count, 'Open requests of one caller. Default 256.'),
  maxBodyBytes: described(count, 'Body of one request. Default 4194304.'),
  maxSessions: described(
    count,
    'Sessions at a time, at most half of them of one caller with a token. Default 100.',
  ),
  sessionIdleMs: described(count, 'A session ends when nothing happened for so long. Default 1800000.'),
  sessionMs: described(count, 'A session ends after so long in any case. Default 86400000.'),
  requestTimeoutMs: described(count, 'How long a client may take to send a request. Default 60000.'),
  closeGraceMs: described(
    count,
    'How long running calls may take to end when the server stops. Default 3000.',
  ),
  a2a: a2aServingSchema,
  console: consoleServing,
  webhooks: list(webhook, 'Who is told of what waits for a person.'),
}

const about = { description: 'Where MCP is served over HTTP, and to whom.' }

/** `<home>/gateway.json` without its parts. */
export const gatewaySchema: JsonSchema = object(gatewayFields, about)

/** The whole file. */
export const gatewayFileSchema: JsonSchema = object(
  {
    ...gatewayFields,
    config: described(configurationSchema, 'What else stands in config.json. Nothing may stand in both.'),
    policy: described(policySchema, 'What else stands in policy.json. Nothing may stand in both.'),
    mcpServers: described(serversSchema, 'What else stands in mcp.json. Nothing may stand in both.'),
  },
  about,
)
