import type { Issue } from '../../contract/base/json.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { isTrustworthyUrl } from '../../kit/match/loopback.ts'
import { fillSecretNames } from '../../kit/secrets/secret-names.ts'
import { described, object, someTexts, text } from '../base/schema-parts.ts'

/** How to log in at a server, as its file says it. */
export interface OAuthFile {
  client_id?: string
  client_secret?: string
  private_key?: string
  signing_algorithm?: string
  client_metadata_url?: string
  scopes?: readonly string[]
  grant?: 'authorization_code' | 'client_credentials'
  issuer?: string
  redirect_port?: number
}

/** `oauth` of a server. */
export const oauthSchema: JsonSchema = object(
  {
    client_id: described(text, 'A client that the authorization server knows. Default: Handrail registers.'),
    client_secret: described(
      text,
      'Its secret. `${NAME}` stands for the environment variable NAME. It goes to one authorization server only.',
    ),
    private_key: described(
      text,
      'In the place of a secret: its key in PEM, which signs who the client is. `${NAME}` stands for the environment variable NAME.',
    ),
    signing_algorithm: described(
      { enum: ['ES256', 'ES384', 'RS256', 'RS384', 'RS512', 'PS256', 'EdDSA'] },
      'With what the key signs. Default `ES256`.',
    ),
    client_metadata_url: described(
      text,
      'Where a document about this client is, as the id of the client for authorization servers that take one.',
    ),
    scopes: described(someTexts, 'What is asked for. Default: what the server asks for.'),
    grant: described(
      { enum: ['authorization_code', 'client_credentials'] },
      'Whether a person logs in, or a machine with credentials of its own. Default `authorization_code`.',
    ),
    issuer: described(
      text,
      'The one authorization server that credentials go to; it may lie in the own network. Default: the one that the server names first.',
    ),
    redirect_port: described(
      { type: 'integer', minimum: 1, maximum: 65_535 },
      'The port on 127.0.0.1 that the browser is led back to. Default: any free one for `handrail mcp login`, 7421 for `mcpTools`.',
    ),
  },
  { description: 'How to log in at a server on the web.' },
)

/** What is wrong with `oauth` of a server with these headers. Pointers begin at the server. */
export function checkOAuth(
  oauth: OAuthFile,
  about: { url: string | undefined; headers: Readonly<Record<string, string>> },
): Issue[] {
  const issues: Issue[] = []
  const refuse = (pointer: string, message: string) =>
    issues.push({ pointer: `/oauth${pointer}`, code: 'invalid_server', message })
  if (about.url === undefined) refuse('', '"oauth" means nothing for a server with a "command".')
  else if (!isTrustworthyUrl(about.url))
    refuse('', 'Tokens go over https only, or to this machine itself. Give the server a "url" with https.')
  if (hasAuthorization(about.headers))
    refuse('', '"headers" has an "Authorization" already. Leave one of the two out.')
  if (oauth.issuer !== undefined && !isTrustworthyUrl(oauth.issuer))
    refuse('/issuer', `"${oauth.issuer}" is not a URL with https.`)
  if (oauth.client_metadata_url !== undefined && !isDocument(oauth.client_metadata_url))
    refuse('/client_metadata_url', `"${oauth.client_metadata_url}" is not a URL of a document, with https.`)
  for (const [field, value] of Object.entries(oauth)) {
    const isSecret = field === 'client_secret' || field === 'private_key'
    if (typeof value === 'string' && (isSecret ? fillSecretNames(value, () => '') : value).includes('${'))
      refuse(
        `/${field}`,
        isSecret
          ? `What stands after "$" is not understood. Write "\${NAME}" with the name of an environment variable.`
          : `"${value}" stays as it is: only "client_secret" and "private_key" may hold "\${NAME}".`,
      )
  }
  const { client_id, client_secret, private_key, grant } = oauth
  if (client_secret !== undefined && private_key !== undefined)
    refuse('/private_key', 'There is a "client_secret" as well. Leave one of the two out.')
  const proof = client_secret ?? private_key
  if (client_id === undefined && proof !== undefined)
    refuse('', 'It has a secret of a client and no "client_id". Give the client as well.')
  if (grant === 'client_credentials' && (client_id === undefined || proof === undefined))
    refuse('/grant', '"client_credentials" needs a "client_id", and a "client_secret" or a "private_key".')
  return issues
}

function isDocument(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:' && new URL(text).pathname !== '/'
}

/** Whether headers say who we are. */
export function hasAuthorization(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
}
