import type { JsonSchema } from '../../contract/base/schema.ts'
import { oauthSchema } from './oauth-schema.ts'
import { count, described, flag, list, someTexts, text } from '../base/schema-parts.ts'

const anyText: JsonSchema = { type: 'string' }
const names: JsonSchema = { type: 'object', additionalProperties: anyText }

const patterns = (description: string): JsonSchema => list(text, description)

/** Fields of a server that Handrail knows, each with what it may hold. */
export const serverFields: { readonly [field: string]: JsonSchema } = {
  type: described(
    { enum: ['stdio', 'http', 'streamable-http', 'streamableHttp'] },
    'How the server is reached. Default: `http` where there is a `url`, else `stdio`.',
  ),
  command: described(
    text,
    'The program of a server on stdio. It is started by its arguments, never through a shell.',
  ),
  args: described({ type: 'array', items: anyText }, 'Its arguments.'),
  env: described(
    names,
    'Variables that it sees, beside PATH, HOME, TMPDIR, LANG, LC_ALL and `env` of the configuration. `${NAME}` stands for the environment variable NAME.',
  ),
  cwd: described(text, 'Its working directory, absolute or from `~/`. Default: the project.'),
  read: described(
    list(text, ''),
    'Folders that the program sees beside its working directory: absolute, from `~/`, or `project`. Default: none.',
  ),
  write: described(list(text, ''), 'Folders that it may write to, in the same form. Default: none.'),
  fetch: described(
    { type: ['boolean', 'array'], items: text },
    'Whether the package that its command names (`npx`, `uvx` and the like) is fetched for it, or hosts that it may be fetched from beside the registry that the person configured. Default true.',
  ),
  url: described(text, 'Where a server on Streamable HTTP is.'),
  headers: described(names, 'Sent with each request. `${NAME}` stands for the environment variable NAME.'),
  oauth: oauthSchema,
  network: described(
    { type: ['boolean', 'array'], items: text },
    'Which hosts its tools may reach: `true` all, `false` none, or patterns of hosts, each with or without a port beside 80 and 443, as in `db.example:5432`. Default: none on stdio, its own host on HTTP.',
  ),
  defer: described(
    flag,
    'Whether models are not shown its tools until tools.search finds them. Default false.',
  ),
  timeout_ms: described(count, 'The time limit of one call. Default: that of the configuration.'),
  connect_timeout_ms: described(count, 'How long it may take to connect. Default 30,000.'),
  protocol: described(
    { enum: ['2025-11-25', '2026-07-28'] },
    'The revision of MCP in which it is spoken to: with a handshake, or without. Default: it is asked which it speaks.',
  ),
  tools: {
    type: 'object',
    additionalProperties: false,
    description: 'Patterns of its own tool names.',
    properties: {
      allow: described(someTexts, 'Only these are imported. Default: all.'),
      deny: patterns('These are not imported.'),
      readonly: patterns(
        'These only read, says the operator: they do not ask. Default: none, whatever the server says of itself.',
      ),
    },
  },
  sampling: described(
    flag,
    'Whether it may ask for words of a model while its tools run; each time, the person of the session is asked. Default false.',
  ),
  tenants: {
    type: ['array', 'object'],
    items: text,
    minItems: 1,
    minProperties: 1,
    additionalProperties: {
      type: 'object',
      additionalProperties: false,
      properties: {
        env: described(names, 'Variables of the program of this tenant, before those of the server.'),
        headers: described(names, 'Headers of the requests of this tenant, before those of the server.'),
      },
    },
    description:
      'Only these tenants have its tools. As an object: each with credentials of its own. Default: all.',
  },
  enabled: described(flag, 'Default true.'),
  disabled: described(flag, 'The same turned round, as other programs write it.'),
}

/** Servers by name. */
export const serversSchema: JsonSchema = {
  type: 'object',
  description: 'Servers by name, as other programs have them.',
  additionalProperties: { type: 'object', properties: serverFields },
}

/** `<home>/mcp.json`. Other programs write more into it, which is left alone. */
export const upstreamsSchema: JsonSchema = {
  type: 'object',
  description: 'MCP servers whose tools Handrail imports.',
  properties: {
    $schema: text,
    mcpServers: serversSchema,
  },
}
