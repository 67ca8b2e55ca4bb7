import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { askApi, keepBrowser, openPage, serve } from '../support/console.ts'
import { enterAs, openJar, rule, startTeamConsole } from '../support/team-console.ts'

const browser = keepBrowser()

const accounts = {
  ann: { name: 'Ann <b>A.</b>', groups: ['ops', 'staff'] },
  bob: { name: 'Bob', groups: ['audit'] },
  eve: { name: '<img src=x onerror="document.title=1">', groups: ['<script>document.title=2</script>'] },
}
const policy = { tenants: { acme: {}, blue: {} } }
const rules = [rule('ops', 'operator', 'acme'), rule('staff', 'viewer', 'blue'), rule('audit', 'viewer', '*')]

test('a person logs in at a provider in a browser, and may do in each tenant what the rules say', async () => {
  const { origin, provider } = await startTeamConsole({ rules, accounts, own: { 'policy.json': policy } })
  const { page, faults } = await openPage(browser(), origin)
  await page.getByText('handrail console').waitFor()
  await page.getByRole('link', { name: `Log in with localhost` }).click()
  await page.getByRole('button', { name: 'ann' }).click()
  await page.getByText('Ann <b>A.</b>').waitFor()
  expect([new URL(page.url()).origin, new URL(page.url()).pathname]).toEqual([origin, '/'])
  const me = JSON.parse(await page.evaluate('fetch("/api/me").then((answer) => answer.text())')) as object
  expect(me).toMatchObject({
    actor: `${provider.issuer}#ann`,
    roles: [
      { tenant: 'acme', role: 'operator' },
      { tenant: 'blue', role: 'viewer' },
    ],
  })
  // They see another tenant too, and what they stop is said.
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await page.getByRole('button', { name: 'Stop everything in acme…' }).click()
  await page.getByRole('button', { name: 'Stop everything in acme now' }).click()
  await page.getByText('Paused: the tenant acme').waitFor()
  expect(faults.filter((fault) => !fault.includes('401'))).toEqual([])
  const [cookie] = (await page.context().cookies(origin)).filter(({ name }) => name.startsWith('handrail-'))
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
  await page.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('link', { name: `Log in with localhost` }).click()
  // The provider still knows who is there.
  await page.getByText('Ann <b>A.</b>').waitFor()
  await page.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('link', { name: 'Log out there' }).click()
  await page.getByRole('button', { name: /yes/i }).click()
  await page.getByText(/sign-out success/i).waitFor()
  await page.goto(`${origin}/enter/login`)
  await page.getByRole('button', { name: 'bob' }).click()
  await page.getByText('Bob', { exact: true }).waitFor()
})

test('who fits no rule does not get in, is told what to ask for, and whatever their claims hold is text', async () => {
  const { origin, shop, provider } = await startTeamConsole({ rules, accounts })
  const { page, faults } = await openPage(browser(), `${origin}/enter/login`)
  await page.getByRole('button', { name: 'eve' }).click()
  await page.getByRole('heading', { name: 'No entry' }).waitFor()
  await page.getByText('Ask who runs this gateway for a role').waitFor()
  await page.getByText('<script>document.title=2</script>').waitFor()
  expect([await page.title(), await page.locator('img, script').count()]).toEqual(['No entry · Handrail', 0])
  expect(faults.filter((fault) => !fault.includes('403'))).toEqual([])
  const told = [...shop.runtime.store.records({ tenant: '', kind: 'note' })].map(({ text }) => text)
  expect(told.join('\n')).toContain('"visit_refused"')
  expect(told.join('\n')).toContain(`${provider.issuer}#eve`)
  await page.getByRole('link', { name: 'Log in as somebody else' }).click()
  await page.getByRole('button', { name: 'ann' }).click()
  await page.getByText('Ann <b>A.</b>').waitFor()
})

test('a visit outlives a restart, holds by the rules of now, and ends with them', async () => {
  const { origin, place, gatewayOf, options, server, shop } = await startTeamConsole({
    rules,
    accounts,
    own: { 'policy.json': policy },
  })
  const { cookie } = await enterAs(origin, 'ann')
  const roles = async () => {
    const { status, body } = await askApi(origin, '/me', { headers: { cookie } })
    return status === 200 ? body.roles : status
  }
  server.stop()
  await server.ended
  const again = await serve(place, options)
  expect(await roles()).toHaveLength(2)
  const told = await fetch(`${origin}/api/events`, { headers: { cookie } })
  const change = (login: object) =>
    writeFileSync(join(place.home, 'gateway.json'), JSON.stringify(gatewayOf(login)))
  change({ rules: [rule('ops', 'viewer', 'acme')] })
  await expect.poll(roles).toEqual([{ tenant: 'acme', role: 'viewer' }])
  expect(await told.text()).toContain('event: hello')
  change({ rules: [rule('audit', 'viewer', '*')] })
  await expect.poll(roles).toBe(401)
  change({ rules })
  await expect.poll(roles).toHaveLength(2)
  change({ clientId: 'another' })
  await expect.poll(roles).toBe(401)
  const noted = (): string[] =>
    [...shop.runtime.store.records({ tenant: '', kind: 'note' })].map(({ text }) => text)
  await expect.poll(noted).toContainEqual(expect.stringMatching(/"access_changed".*console changed/))
  change({ clientSecret: 'NOT_SET' })
  await again.server.saw('"NOT_SET" has no secret of the client')
  expect(await roles()).toBe(401)
})

test('who logs in anew has one visit, whose cookie is another one; each begin and end is evidence', async () => {
  const { origin, shop } = await startTeamConsole({ rules, accounts })
  const first = await enterAs(origin, 'bob')
  const entered = await first.jar.get(await first.jar.logIn(origin, 'bob'))
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
  expect(cookie).not.toBe(first.cookie)
  expect((await askApi(origin, '/me', { headers: { cookie: first.cookie } })).status).toBe(401)
  expect((await askApi(origin, '/me', { headers: { cookie } })).body).toMatchObject({ name: 'Bob' })
  const events = [...shop.runtime.store.records({ tenant: '', kind: 'note' })].map(
    ({ text }) => (JSON.parse(text) as { event: string }).event,
  )
  expect(events.filter((event) => event.startsWith('visit_'))).toEqual([
    'visit_began',
    'visit_began',
    'visit_ended',
  ])
})

test('an address counts only if the provider verified it, and a claim may be named by a pointer', async () => {
  const { origin, provider } = await startTeamConsole({
    rules: [
      { claim: 'email', value: 'ann@acme.example', role: 'viewer', tenants: ['acme'] },
      { claim: '/email', value: 'ann@acme.example', role: 'operator', tenants: ['blue'] },
      { claim: '/realm/roles', value: 'boss', role: 'admin', tenants: ['*'] },
    ],
    accounts: {
      ann: { email: 'ann@acme.example', email_verified: true },
      mallory: { email: 'ann@acme.example', email_verified: false },
      zed: { email: 'zed@acme.example', email_verified: true },
      zoe: { realm: { roles: ['boss'] } },
    },
  })
  expect((await (await enterAs(origin, 'ann')).api('/me')).body.roles).toEqual([
    { tenant: 'acme', role: 'viewer' },
    { tenant: 'blue', role: 'operator' },
  ])
  expect((await (await enterAs(origin, 'zoe')).api('/me')).body.role).toBe('admin')
  const jar = openJar()
  const refused = await jar.get(await jar.logIn(origin, 'mallory'))
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('No entry')])
  // What is verified at one place is not what stands at the other.
  for (const own of [{ email: 'ann@acme.example' }, { email_verified: true }]) {
    provider.tamper = ({ email: _email, email_verified: _verified, ...rest }, sign) =>
      sign({ ...rest, ...own })
    const as = own.email === undefined ? 'mallory' : 'zed'
    const other = openJar()
    const mixed = await other.get(await other.logIn(origin, as))
    expect([mixed.status, await mixed.text()]).toEqual([403, expect.stringContaining('No entry')])
  }
})
