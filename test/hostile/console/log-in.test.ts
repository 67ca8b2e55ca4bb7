import { generateKeyPair, SignJWT, type JWTPayload } from 'jose'
import { afterEach, expect, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { askApi, keepBrowser, visit } from '../../support/console.ts'
import { serveWeb } from '../../support/web-server.ts'
import { clientId } from '../../support/openid-provider.ts'
import { enterAs, openJar, rule, startTeamConsole } from '../../support/team-console.ts'

const accounts = { ann: { name: 'Ann', groups: ['ops'] }, mallory: { name: 'Mallory', groups: ['ops'] } }
const team = keepOpen(() => startTeamConsole({ rules: [rule('ops', 'admin', '*')], accounts }))
const browser = keepBrowser()

afterEach(() => {
  team().provider.tamper = undefined
})

/** A person who is not let in, by an answer that leaves no cookie of a visit. */
async function expectNoEntry(answer: Promise<Response>, why: RegExp): Promise<void> {
  const response = await answer
  expect([response.status, response.headers.getSetCookie().filter((set) => !/-login=/.test(set))]).toEqual([
    403,
    [],
  ])
  expect(await response.text()).toMatch(why)
}

const notBegun = /not begun in this browser/
const doesNotFit = /does not fit what this browser began/

test('the log-in asks with PKCE, state and nonce, and its cookie opens nothing', async () => {
  const { origin } = team()
  const begun = await openJar().get(`${origin}/enter/login`)
  const asked = new URL(begun.headers.get('location') ?? '').searchParams
  expect(asked.get('code_challenge_method')).toBe('S256')
  for (const name of ['code_challenge', 'state', 'nonce']) expect(asked.get(name)).toMatch(/^[\w-]{43}$/)
  expect(new Set(['code_challenge', 'state', 'nonce'].map((name) => asked.get(name))).size).toBe(3)
  const [cookie = ''] = begun.headers.getSetCookie()
  expect(cookie).toMatch(/^handrail-\d+-login=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/)
  const secret = /=([^;]+)/.exec(cookie)?.[1] ?? ''
  const as = cookie.replace(/-login=.*/, `=${secret}`)
  expect((await askApi(origin, '/me', { headers: { cookie: as } })).status).toBe(401)
})

test('the answer of another browser is not taken: no person is logged in as an attacker', async () => {
  const { origin } = team()
  const mallory = openJar()
  const bait = await mallory.logIn(origin, 'mallory')
  await expectNoEntry(openJar().get(bait), notBegun)
  const victim = openJar()
  await victim.logIn(origin, 'ann')
  await expectNoEntry(victim.get(bait), doesNotFit)
})

test('an answer is taken once, and none that was changed', async () => {
  const { origin } = team()
  const jar = openJar()
  const callback = await jar.logIn(origin, 'ann')
  const begun = [...jar.cookies].filter(([name]) => name.includes('-login'))
  const changed = (name: string, value: string): string => {
    const url = new URL(callback)
    url.searchParams.set(name, value)
    return url.href
  }
  for (const [name, value] of [
    ['state', 'A'.repeat(43)],
    ['iss', 'https://evil.example'],
    ['code', 'A'.repeat(43)],
  ] as const) {
    for (const [cookie, secret] of begun) jar.cookies.set(cookie, secret)
    await expectNoEntry(jar.get(changed(name, value)), doesNotFit)
  }
  for (const [cookie, secret] of begun) jar.cookies.set(cookie, secret)
  expect((await jar.get(callback)).status).toBe(303)
  await expectNoEntry(jar.get(callback), notBegun)
  for (const [cookie, secret] of begun) jar.cookies.set(cookie, secret)
  await expectNoEntry(jar.get(callback), doesNotFit)
})

test('a code that was stolen is of no use to another browser that began a log-in itself', async () => {
  const { origin } = team()
  const stolen = new URL(await openJar().logIn(origin, 'ann')).searchParams.get('code') ?? ''
  const thief = openJar()
  const own = new URL(await thief.logIn(origin, 'mallory'))
  own.searchParams.set('code', stolen)
  await expectNoEntry(thief.get(own.href), doesNotFit)
})

const without = (claims: JWTPayload, name: string): JWTPayload =>
  Object.fromEntries(Object.entries(claims).filter(([each]) => each !== name))

type Sign = (claims: JWTPayload) => Promise<string>
const forgeries: { readonly [what: string]: (claims: JWTPayload, sign: Sign) => Promise<string> } = {
  'with another nonce': (claims, sign) => sign({ ...claims, nonce: 'A'.repeat(43) }),
  'without a nonce': (claims, sign) => sign(without(claims, 'nonce')),
  'for another client': (claims, sign) => sign({ ...claims, aud: 'another' }),
  'for several clients, made for another': (claims, sign) =>
    sign({ ...claims, aud: [clientId, 'another'], azp: 'another' }),
  'of another issuer': (claims, sign) => sign({ ...claims, iss: 'https://evil.example' }),
  'that has expired': (claims, sign) => sign({ ...claims, exp: Math.floor(Date.now() / 1_000) - 300 }),
  'without a subject': (claims, sign) => sign(without(claims, 'sub')),
  'signed with another key': async (claims) => {
    const { privateKey } = await generateKeyPair('ES256')
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'own' }).sign(privateKey)
  },
  'signed with the secret of the client': (claims) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode('x'.repeat(32))),
  'without a signature': async (claims) =>
    `${btoa('{"alg":"none"}')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`,
}

test.each(Object.entries(forgeries))('an ID token %s lets nobody in', async (_what, forge) => {
  const { origin, provider } = team()
  provider.tamper = forge
  const jar = openJar()
  await expectNoEntry(jar.get(await jar.logIn(origin, 'ann')), doesNotFit)
  provider.tamper = (claims, sign) => sign(claims)
  const again = openJar()
  expect((await again.get(await again.logIn(origin, 'ann'))).status).toBe(303)
})

test('what the provider refuses is shown as text', async () => {
  const { origin } = team()
  const jar = openJar()
  const refused = await jar.get(await jar.logIn(origin, ''))
  const text = await refused.text()
  expect([refused.status, text]).toEqual([403, expect.stringContaining('Not logged in')])
  expect(text).not.toContain('<b>')
})

test('a cookie that was there before the log-in is not that of the visit, and one of a visit that ended opens nothing', async () => {
  const { origin } = team()
  const planted = 'A'.repeat(43)
  const jar = openJar()
  const name = `handrail-${new URL(origin).port}`
  jar.cookies.set(`127.0.0.1 ${name}`, planted)
  await jar.get(await jar.logIn(origin, 'ann'))
  const own = jar.cookies.get(`127.0.0.1 ${name}`) ?? ''
  expect([own.length, own === planted]).toEqual([43, false])
  expect((await askApi(origin, '/me', { headers: { cookie: `${name}=${planted}` } })).status).toBe(401)
  const { api, change } = await visit(origin, `${name}=${own}`)
  expect((await change('/leave', {})).status).toBe(200)
  for (const path of ['/me', '/calls', '/access', '/events']) expect((await api(path)).status).toBe(401)
  expect((await change('/leave', {})).status).toBe(401)
})

test('no address leads the browser elsewhere after the log-in', async () => {
  const { origin, provider } = team()
  for (const bait of [
    '?next=https://evil.example',
    '?redirect_uri=https://evil.example',
    '//evil.example',
    '?anew=//evil.example',
  ]) {
    const begun = await openJar().get(`${origin}/enter/login${bait}`)
    const to = begun.headers.get('location')
    if (to === null) expect(begun.status, bait).toBe(404)
    else
      expect([new URL(to).origin, new URL(to).searchParams.get('redirect_uri')]).toEqual([
        provider.issuer,
        `${origin}/enter/callback`,
      ])
  }
  const jar = openJar()
  const callback = await jar.logIn(origin, 'ann')
  const entered = await jar.get(`${callback}&next=https://evil.example&return_to=//evil.example`)
  expect([entered.status, entered.headers.get('location')]).toEqual([303, '/'])
})

test('under another name of the machine no log-in is finished, and it begins where the provider leads back to', async () => {
  const { origin } = team()
  const other = origin.replace('127.0.0.1', 'localhost')
  const begun = await fetch(`${other}/enter/login`, { redirect: 'manual' })
  expect([begun.headers.get('location'), begun.headers.getSetCookie()]).toEqual([`${origin}/enter/login`, []])
  const jar = openJar()
  const callback = await jar.logIn(origin, 'ann')
  await expectNoEntry(fetch(callback.replace('127.0.0.1', 'localhost'), { redirect: 'manual' }), notBegun)
})

test('a page of another site can neither frame the console nor change anything with the cookie of its visitor', async () => {
  const { origin, ask, shop } = team()
  const { approval } = await ask('1')
  const { cookie } = await enterAs(origin, 'ann')
  const [name = '', value = ''] = cookie.split('=')
  const body = JSON.stringify({ decision: 'allow_once', digest: approval.digest })
  const evil = await serveWeb({
    '/': `<!doctype html><iframe src="${origin}/inbox"></iframe>
<form id="form" method="post" enctype="text/plain" action="${origin}/api/approvals/${approval.id}"><input name='${body.slice(0, -1)},"x":"' value='"}'></form>`,
  })
  const page = await browser().newPage()
  await page.context().addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Strict' }])
  // Of another site than 127.0.0.1.
  await page.goto(`http://localhost:${evil.port}/`)
  const [, frame] = page.frames()
  expect(await frame?.content()).not.toContain('Handrail')
  const sent = (): Promise<unknown> =>
    page.evaluate(
      `fetch('${origin}/api/approvals/${approval.id}', { method: 'POST', credentials: 'include', headers: { 'content-type': 'text/plain' }, body: '${body}' }).then((answer) => answer.status, () => 'refused')`,
    )
  expect(await sent()).toBe('refused')
  const [response] = await Promise.all([
    page.waitForResponse((answer) => answer.url().includes('/api/approvals/')),
    page.evaluate('document.getElementById("form").submit()'),
  ])
  expect([401, 403]).toContain(response.status())
  expect(shop.runtime.approvals.find(approval.id)?.state).toBe('waiting')
  for (const path of ['/inbox', '/access', '/enter/callback', '/enter/login', '/api/access']) {
    const { headers } = await fetch(`${origin}${path}`, {
      redirect: 'manual',
      headers: { accept: 'text/html', cookie },
    })
    expect(headers.get('content-security-policy'), path).toMatch(/frame-ancestors 'none'/)
    expect(headers.get('x-frame-options'), path).toBe('DENY')
  }
  await page.close()
})
