import type { Issue } from '../contract/base/json.ts'
import { everyTenant, type ConsoleRule, type ConsoleServing } from '../contract/mcp/console-login.ts'
import { loopbackNames } from '../kit/match/loopback.ts'
import { findUrlFlaw } from './base/find-flaw.ts'
import { checkTenantId } from './policy/check-tenants.ts'

/** What a schema cannot say of who gets into the console. `hasCallers`: whether calls take a token. */
export function checkConsole({ url, login }: ConsoleServing, hasCallers: boolean): Issue[] {
  const message = findUrlFlaw(login.issuer)
  return [
    ...checkUrl(url, hasCallers),
    ...(message === undefined ? [] : [{ pointer: '/console/login/issuer', code: 'invalid_url', message }]),
    ...login.rules.flatMap((rule, index) => checkRule(rule, `/console/login/rules/${index}`)),
  ]
}

function checkUrl(url: string, hasCallers: boolean): Issue[] {
  const flaw = findUrlFlaw(url) ?? findOriginFlaw(url)
  if (flaw !== undefined) return [{ pointer: '/console/url', code: 'invalid_url', message: flaw }]
  if (hasCallers || loopbackNames.includes(new URL(url).hostname)) return []
  const message =
    'Everybody who reaches this URL could call tools, as no caller is named. Name "tokens" or "oauth" too: "handrail token ci --write" makes one.'
  return [{ pointer: '/console/url', code: 'no_callers', message }]
}

function findOriginFlaw(url: string): string | undefined {
  const { origin } = new URL(url)
  return origin === url.toLowerCase()
    ? undefined
    : `"${url}" is more than an origin. Write it as "${origin}".`
}

function checkRule({ tenants }: ConsoleRule, pointer: string): Issue[] {
  const ids = tenants.flatMap((tenant, index) =>
    tenant === everyTenant ? [] : checkTenantId(tenant, `${pointer}/tenants/${index}`),
  )
  if (tenants.length === 1 || !tenants.includes(everyTenant)) return ids
  const message = '"*" is every tenant already. Leave the others out, or "*".'
  return [...ids, { pointer: `${pointer}/tenants`, code: 'contradiction', message }]
}
