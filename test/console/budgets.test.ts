import { userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { handrail, type Place } from '../support/command-line.ts'
import { askApi, caller, enter, keepBrowser, openPage, startConsole } from '../support/console.ts'

const browser = keepBrowser()

const budgets = [
  { id: 'all', unit: 'calls', limit: 10, each: ['tenant', 'actor'] },
  { id: 'apart', unit: 'calls', limit: 5, each: ['actor', 'tool'], tools: ['shop.*', 'code.read_*'] },
  { id: 'day', unit: 'cost', limit: 1_000, windowMs: 86_400_000 },
]

/** Another link of a server that runs. */
const link = async (place: Place, origin: string): Promise<string> =>
  (await handrail(place, ['console', '--port', new URL(origin).port])).stdout.trim()

test('a person sees what is left of each budget, as calls are held to it', async () => {
  const { shop, place, origin, link: first } = await startConsole({ 'policy.json': { budgets } })
  const session = shop.runtime.session({ actor: 'ann' })
  for (const path of ['a', 'b', 'c']) await session.call('shop.look', { order: path })
  await handrail(place, ['call', 'code.read_file', '{"path":"a.txt"}', '--actor', 'ann'])
  const { api } = await enter(first)
  const { body } = await api('/budgets?actor=ann')
  const of = (id: string) => body.budgets.filter((each: { id: string }) => each.id === id)
  expect(of('all')).toMatchObject([{ unit: 'calls', limit: 10, spent: 4, reserved: 0, left: 6 }])
  expect(of('all')[0].tools).toContain('code.write_file')
  expect(of('apart')).toMatchObject([{ spent: 1, left: 4, tools: ['code.read_file'] }])
  expect(of('day')).toMatchObject([{ endsAt: expect.any(Number) }])
  expect((await api('/budgets?actor=bob')).body.budgets[0]).toMatchObject({ id: 'all', spent: 0, left: 10 })
  expect((await api('/budgets?actor=ann')).body).toEqual(body)
  expect((await api('/budgets?actor=no%20such')).status).toBe(404)

  const { page, faults } = await openPage(browser(), await link(place, origin))
  await page.getByRole('link', { name: 'Budgets', exact: true }).click()
  await page.getByLabel('Actor').fill('ann')
  await page.keyboard.press('Enter')
  const row = page.getByRole('table', { name: 'Budgets of ann of local' }).getByRole('row').nth(1)
  await row.getByText('all').waitFor()
  expect((await row.getByRole('cell').allTextContents()).slice(1, 5)).toEqual(['4', '0', '6', 'never'])
  expect(faults).toEqual([])
})

test('an operator revokes a consent with one press: it answers no call any more, and the evidence says who did it', async () => {
  const { shop, place, origin, link: first, ask } = await startConsole()
  const evil = '<img src=x onerror="document.title=1">'
  await shop.runtime.consents.give({ tool: 'shop.refund', givenBy: 'ann', reason: evil })
  const session = shop.runtime.session({ actor: 'ann' })
  expect(await session.call('shop.refund', { order: '1' })).toMatchObject({ ok: true })
  const { page, faults } = await openPage(browser(), first)
  await page.getByRole('link', { name: 'Budgets', exact: true }).click()
  await page.getByText(evil).waitFor()
  await page.getByRole('button', { name: 'Revoke the consent to shop.refund for *' }).press('Enter')
  await page.getByText('revoked ·').waitFor()
  expect(await page.locator('img').count()).toBe(0)
  expect((await ask('2')).approval.state).toBe('waiting')
  const notes = [...shop.runtime.store.records({ kind: 'note' })].map(({ text }) => JSON.parse(text))
  expect(notes.find(({ event }) => event === 'consent_revoked')).toMatchObject({
    actor: userInfo().username,
    tool: 'shop.refund',
  })
  const { change } = await enter(await link(place, origin))
  expect((await change('/consents/nothing/revoke', {})).status).toBe(404)
  expect(faults).toEqual([])
})

test('a tenant sees its own consents and budgets only, and revokes none without the role', async () => {
  const { origin, shop } = await startConsole({
    'policy.json': { budgets, tenants: { acme: {} } },
    'gateway.json': { tokens: [caller('eve', { approver: true, tenant: 'acme' }), caller('ann')] },
  })
  const mine = await shop.runtime.consents.give({ tool: 'shop.refund', tenant: 'acme', givenBy: 'zoe' })
  const other = await shop.runtime.consents.give({ tool: 'shop.refund', givenBy: 'ann' })
  await shop.runtime.session({ actor: 'ann' }).call('shop.look', { order: '1' })
  const as = (id: string, path: string, body?: object) =>
    askApi(origin, path, {
      headers: { authorization: `Bearer hr_${id}`, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
  for (const path of ['/consents', '/budgets']) expect((await as('ann', path)).status).toBe(403)
  const { consents } = (await as('eve', '/consents')).body
  expect(consents.map(({ id }: { id: string }) => id)).toEqual([mine.id])
  expect((await as('eve', '/budgets?tenant=local&actor=ann')).status).toBe(403)
  expect((await as('eve', '/budgets?actor=ann')).body).toMatchObject({
    tenant: 'acme',
    budgets: [{ spent: 0 }, { spent: 0 }, { spent: 0 }],
  })
  expect((await as('eve', `/consents/${mine.id}/revoke`, {})).status).toBe(403)
  expect((await as('eve', `/consents/${other.id}/revoke`, {})).status).toBe(404)
  expect(shop.runtime.consents.list().map(({ revokedAt }) => revokedAt)).toEqual([undefined, undefined])
})
