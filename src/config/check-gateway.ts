import type { Issue } from '../contract/base/json.ts'
import type {
  GatewayConfiguration,
  OAuthCallers,
  TokenCaller,
  WebhookReceiver,
} from '../contract/mcp/serving.ts'
import { idForm, isId } from '../kit/match/is-id.ts'
import { valueAt } from '../kit/json/json-pointer.ts'
import { checkEach, checkIds } from './base/check-lists.ts'
import { checkA2aServing } from './check-a2a.ts'
import { checkConsole } from './check-console.ts'
import { checkTenantId } from './policy/check-tenants.ts'
import { findToolFlaw, findUrlFlaw } from './base/find-flaw.ts'

/** What a schema cannot say of a gateway that fits it. */
export function checkGateway({
  tokens = [],
  oauth,
  allowedOrigins,
  webhooks = [],
  a2a,
  console: served,
}: GatewayConfiguration): Issue[] {
  return [
    ...checkA2aServing(a2a),
    ...(served === undefined ? [] : checkConsole(served, tokens.length > 0 || oauth !== undefined)),
    ...checkIds(tokens, '/tokens'),
    ...checkDigests(tokens),
    ...tokens.flatMap((token, index) => checkToken(token, `/tokens/${index}`)),
    ...(oauth === undefined ? [] : checkOAuth(oauth)),
    ...checkEach(allowedOrigins, '/allowedOrigins', { code: 'never_matches', find: findOriginFlaw }),
    ...webhooks.flatMap((webhook, index) => checkWebhook(webhook, `/webhooks/${index}`)),
  ]
}

/** The network judges where a URL leads; here is told what could never be posted to. */
function checkWebhook({ url, secret, format = 'standard' }: WebhookReceiver, pointer: string): Issue[] {
  const message = findPostFlaw(url)
  const flaw = message === undefined ? [] : [{ pointer: `${pointer}/url`, code: 'invalid_url', message }]
  if (format === 'slack' || secret !== undefined) return flaw
  const missing =
    'Say what signs it, so that the receiver can tell who sent it: in a file the name of the environment variable with the secret, in a program the secret.'
  return [...flaw, { pointer: `${pointer}/secret`, code: 'missing', message: missing }]
}

/** The path of a URL may be its secret, so it is not repeated. */
function findPostFlaw(url: string): string | undefined {
  if (!URL.canParse(url)) return 'This is not a URL. Write it from "https://" on.'
  const { protocol, username, password, hash, host } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') return `The URL of "${host}" is neither https nor http.`
  if (username !== '' || password !== '')
    return `The URL of "${host}" has a user name or a password. Leave them out.`
  return hash === '' ? undefined : `The URL of "${host}" has a fragment. Leave it out.`
}

function checkToken(
  { expiresAt, allowedTools, disallowedTools, actor, tenant }: TokenCaller,
  pointer: string,
): Issue[] {
  const issues = [
    ...checkTools({ allowedTools, disallowedTools }, pointer),
    ...checkActor(actor, `${pointer}/actor`),
    ...(tenant === undefined ? [] : checkTenantId(tenant, `${pointer}/tenant`)),
  ]
  const isTime = expiresAt === undefined || (zoned.test(expiresAt) && !Number.isNaN(Date.parse(expiresAt)))
  if (isTime) return issues
  const message = `"${expiresAt}" is not a time with a zone. Write it as "2027-01-31T00:00:00Z".`
  return [...issues, { pointer: `${pointer}/expiresAt`, code: 'invalid_time', message }]
}

function checkActor(actor: string, pointer: string): Issue[] {
  if (isId(actor)) return []
  const message = `"${actor.slice(0, 80)}" is not an id of an actor: use ${idForm}.`
  return [{ pointer, code: 'invalid_id', message }]
}

const zoned = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:?\d\d)$/

/** What a schema says of a digest would show it, and it may be the token itself. */
export function describeDigest(issue: Issue, gateway: unknown): Issue {
  const [, entry] = /^(\/tokens\/\d+)\/sha256$/.exec(issue.pointer) ?? []
  if (entry === undefined) return issue
  const [id, given] = [valueAt(gateway, `${entry}/id`), valueAt(gateway, issue.pointer)]
  const whose = typeof id === 'string' ? `The entry of "${id.slice(0, 80)}"` : 'This entry'
  const what =
    typeof given === 'string' && given.startsWith('hr_')
      ? 'has the token itself in place of its SHA-256, for every reader of the file to use'
      : 'has not the SHA-256 of a token, which is 64 hexadecimal digits'
  const command = `handrail token ${typeof id === 'string' && isId(id) ? id : 'new'}`
  const message = `${whose} ${what}. Make a token, and put the "sha256" that is shown with it here: ${command}`
  return { ...issue, message }
}

/** Two callers with one token would be one of them. */
function checkDigests(tokens: readonly TokenCaller[]): Issue[] {
  const first = new Map<string, number>()
  return tokens.flatMap(({ sha256 }, index) => {
    const digest = sha256.toLowerCase()
    const before = first.get(digest)
    if (before === undefined) {
      first.set(digest, index)
      return []
    }
    const message = `This is the token of /tokens/${before}. Give each caller one of their own: "handrail token" makes it.`
    return [{ pointer: `/tokens/${index}/sha256`, code: 'duplicate_token', message }]
  })
}

function checkOAuth(oauth: OAuthCallers): Issue[] {
  const urls = (['issuer', 'resource', 'jwksUri'] as const).flatMap((name) => {
    const message = oauth[name] === undefined ? undefined : findUrlFlaw(oauth[name])
    return message === undefined ? [] : [{ pointer: `/oauth/${name}`, code: 'invalid_url', message }]
  })
  const both =
    oauth.tenant !== undefined && oauth.tenantClaim !== undefined
      ? [
          {
            pointer: '/oauth/tenant',
            code: 'contradiction',
            message: 'The tenant is named by tenantClaim already. Leave one of them out.',
          },
        ]
      : []
  return [...urls, ...both, ...checkTools(oauth, '/oauth')]
}

function checkTools(
  { allowedTools, disallowedTools }: Pick<TokenCaller, 'allowedTools' | 'disallowedTools'>,
  pointer: string,
): Issue[] {
  const about = { code: 'never_matches', find: findToolFlaw }
  return [
    ...checkEach(allowedTools, `${pointer}/allowedTools`, about),
    ...checkEach(disallowedTools, `${pointer}/disallowedTools`, about),
  ]
}

function findOriginFlaw(origin: string): string | undefined {
  if (URL.canParse(origin) && new URL(origin).origin === origin.toLowerCase()) return undefined
  return `"${origin}" is not an origin, so that it never matches. Write it as "https://handrail.example".`
}
