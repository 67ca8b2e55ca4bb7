import { expect, test } from 'vitest'
import { handrail, makePlace } from '../support/command-line.ts'
import { askApi, caller, enter, keepBrowser, openPage, startConsole } from '../support/console.ts'
import { modelSaying } from '../support/mock-model.ts'
import { enterAs, rule, startTeamConsole } from '../support/team-console.ts'

const browser = keepBrowser()

const accounts = {
  ann: { name: 'Ann', groups: ['ops'] },
  bob: { name: '<b>Bob</b>', groups: ['watch'] },
  zoe: { name: 'Zoe', groups: ['blue'] },
}
const rules = [rule('ops', 'admin', 'acme'), rule('watch', 'viewer', 'acme'), rule('blue', 'admin', 'blue')]

test('the page Access shows who may connect, get in and decide in the tenants of its visitor, and an admin ends a visit with one press', async () => {
  const gateway = {
    tokens: [
      caller('ci', { tenant: 'acme', expiresAt: '2026-01-01T00:00:00Z' }),
      caller('other', { tenant: 'blue', approver: true }),
    ],
    webhooks: [
      { url: 'https://hooks.acme.example/T0/not-to-be-shown', format: 'slack', tenants: ['acme'] },
      { url: 'https://hooks.blue.example/T1', format: 'slack', tenants: ['blue'] },
    ],
  }
  const policy = {
    tenants: { acme: {}, blue: {} },
    approvers: [
      { tenants: ['acme'], approvers: ['http://localhost:*#ann'] },
      { tenants: ['blue'], approvers: ['zoe'] },
    ],
  }
  const { origin, link, shop, provider } = await startTeamConsole({
    rules,
    accounts,
    own: { 'policy.json': policy, 'gateway.json': gateway },
  })
  const [bob] = [await enterAs(origin, 'bob'), await enterAs(origin, 'zoe')]
  const ann = await enterAs(origin, 'ann')
  const { body } = await ann.api('/access')
  expect(body).toMatchObject({
    tenants: ['acme'],
    isOpen: false,
    callers: [{ id: 'ci', tenant: 'acme', approver: false, state: 'expired' }],
    login: { issuer: provider.issuer, rules: [{ role: 'admin' }, { role: 'viewer' }] },
    deciders: [{ tenants: ['acme'], approvers: ['http://localhost:*#ann'], needed: 1 }],
    webhooks: [{ host: 'hooks.acme.example', tenants: ['acme'] }],
    visits: [
      { name: 'Ann', isOwn: true },
      { name: '<b>Bob</b>', isOwn: false, mayEnd: true },
    ],
  })
  expect(JSON.stringify(body)).not.toMatch(/blue|zoe|Zoe|not-to-be-shown|sha256|[0-9a-f]{64}/)
  const { visits } = (await bob.api('/access')).body as { visits: { visit: string; mayEnd: boolean }[] }
  expect(visits.map(({ mayEnd }) => mayEnd)).toEqual([false, false])
  for (const { visit } of visits) expect((await bob.change(`/visits/${visit}/end`, {})).status).toBe(403)

  const { page, faults } = await openPage(browser(), link)
  await page.getByRole('link', { name: 'Access', exact: true }).click()
  await page.getByRole('table', { name: 'Tokens' }).waitFor()
  await page.getByRole('button', { name: 'End the visit of <b>Bob</b>' }).press('Enter')
  await expect.poll(() => page.getByText('<b>Bob</b>').count()).toBe(0)
  expect([(await bob.api('/me')).status, (await ann.api('/me')).status, faults]).toEqual([401, 200, []])
  const notes = [...shop.runtime.store.records({ tenant: 'acme', kind: 'note' })].map(({ text }) => text)
  expect(notes.find((text) => text.includes('"visit_ended"'))).toContain(`ended the visit of <b>Bob</b>`)
})

test('a person of a login answers under a name that no token and no other issuer has, and the policy names them by it', async () => {
  const policy = {
    tenants: { acme: {} },
    approvers: [{ tools: ['shop.refund'], approvers: ['http://localhost:*#ann'] }],
  }
  const { origin, ask, provider } = await startTeamConsole({
    rules: [rule('ops', 'approver', 'acme'), rule('watch', 'approver', 'acme')],
    accounts,
    own: {
      'policy.json': policy,
      'gateway.json': { tokens: [caller('ann', { tenant: 'acme', approver: true })] },
    },
  })
  const { approval } = await ask('1', { tenant: 'acme', actor: 'asks' })
  const path = `/approvals/${approval.id}`
  const yes = { decision: 'allow_once', digest: approval.digest }
  const token = { authorization: 'Bearer hr_ann', 'content-type': 'application/json' }
  const byToken = await askApi(origin, path, { method: 'POST', headers: token, body: JSON.stringify(yes) })
  expect([byToken.status, byToken.body.code]).toEqual([403, 'not_approver'])
  const bob = await enterAs(origin, 'bob')
  expect((await bob.change(path, yes)).body).toMatchObject({ status: 403, code: 'not_approver' })
  const ann = await enterAs(origin, 'ann')
  expect((await ann.change(path, yes)).body.approval).toMatchObject({
    state: 'allowed',
    answers: [{ by: `${provider.issuer}#ann` }],
  })
})

test('nothing that the console shows has a secret in it, whoever looks', async () => {
  const secret = `sk-ant-api03-${'k3Y'.repeat(20)}`
  const { link, shop } = await startConsole()
  const session = shop.runtime.session({ actor: 'ann' })
  const asks = [{ id: '1', tool: 'shop.refund', input: { order: secret } }]
  const { waiting } = await session.step(asks)
  await session.call('shop.look', { order: secret })
  const { model } = modelSaying([
    { calls: [{ id: '1', tool: 'shop__look', input: { order: secret } }] },
    { text: `It is ${secret}.` },
  ])
  const run = await shop.runtime.run({ model, prompt: `Look ${secret} up.`, session: { actor: 'ann' } })
  await run.result
  const failing = modelSaying([new Error(`The key ${secret} is wrong.`)])
  const failed = await shop.runtime.run({ model: failing.model, prompt: 'Look.', session: { actor: 'ann' } })
  await failed.result
  const { api, change } = await enter(link)
  const { calls } = (await api('/calls')).body as { calls: { call: string }[] }
  expect(calls).toHaveLength(2)
  const paths = [
    '/approvals',
    `/approvals/${waiting[0]?.approval.id ?? ''}`,
    '/calls',
    '/runs',
    `/runs/${run.id}`,
    `/runs/${failed.id}`,
    '/notes',
  ]
  for (const path of [...paths, ...calls.map(({ call }) => `/calls/${call}`)]) {
    const { status, body } = await api(path)
    expect([path, status, JSON.stringify(body).match(new RegExp('.{80}' + secret, 'g')) ?? []]).toEqual([
      path,
      200,
      [],
    ])
  }
  expect(JSON.stringify((await api(`/calls/${calls[0]?.call ?? ''}`)).body)).toContain('redacted')
  const whole = await change(`/runs/${run.id}/unredacted`, {})
  expect(JSON.stringify(whole.body)).toContain(secret)
  const notes = [...shop.runtime.store.records({ tenant: 'local', kind: 'note' })].map(({ text }) => text)
  expect(notes.filter((text) => text.includes('"unredacted_shown"') && text.includes(run.id))).toHaveLength(1)
})

const login = { issuer: 'https://login.example', clientId: 'handrail', rules: [rule('ops', 'admin', 'acme')] }
const faulty = {
  'https://a.example/console': [
    { url: 'https://a.example/console', login },
    '#/console/url',
    'more than an origin',
  ],
  'http://a.example': [{ url: 'http://a.example', login }, '#/console/url', 'not encrypted'],
  'no callers': [{ url: 'https://a.example', login }, '#/console/url', 'handrail token ci --write'],
  'an issuer in the clear': [
    { url: 'http://127.0.0.1:1', login: { ...login, issuer: 'http://login.example' } },
    '#/console/login/issuer',
    'not encrypted',
  ],
  'no rule': [{ url: 'http://127.0.0.1:1', login: { ...login, rules: [] } }, '#/console/login/rules', ''],
  'no such role': [
    { url: 'http://127.0.0.1:1', login: { ...login, rules: [rule('ops', 'root', 'acme')] } },
    '#/console/login/rules/0/role',
    'admin',
  ],
  'a tenant that cannot be': [
    { url: 'http://127.0.0.1:1', login: { ...login, rules: [rule('ops', 'admin', 'ac*')] } },
    '#/console/login/rules/0/tenants/0',
    'not an id of a tenant',
  ],
  'all and more': [
    { url: 'http://127.0.0.1:1', login: { ...login, rules: [rule('ops', 'admin', '*', 'acme')] } },
    '#/console/login/rules/0/tenants',
    'every tenant already',
  ],
  'no secret': [
    { url: 'http://127.0.0.1:1', login: { ...login, clientSecret: 'NOT_SET' } },
    '#/console/login/clientSecret',
    'NOT_SET',
  ],
} as const

test.each(Object.entries(faulty))(
  'nothing starts with %s, and the message says where',
  async (_what, [console, pointer, why]) => {
    const place = makePlace({}, { 'gateway.json': { console } })
    const { code, stderr } = await handrail(place, ['serve', '--port', '0'])
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining(pointer)])
    expect(stderr).toContain(why)
  },
)

test('doctor says that nobody can log in if the provider cannot be reached, and that all is well if it can', async () => {
  const { place, gatewayOf, provider } = await startTeamConsole({ rules, accounts, login: {} })
  const secret = { env: { CONSOLE_SECRET: 'x' } }
  const found = async (gateway: object) => {
    const home = makePlace({}, { 'gateway.json': gateway })
    return (await handrail(home, ['doctor'], secret)).stdout
      .split('\n')
      .find((line) => /\blogin\b/.test(line))
  }
  expect(place.home).toBeTruthy()
  expect(await found(gatewayOf())).toContain(`at ${provider.issuer}, back to`)
  expect(await found(gatewayOf({ issuer: 'http://localhost:9' }))).toContain(
    'nobody can log in to the console',
  )
})
