import { DatabaseSync } from 'node:sqlite'
import { userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { handrail } from '../support/command-line.ts'
import { askApi, caller, enter, keepBrowser, openPage, startConsole } from '../support/console.ts'

const browser = keepBrowser()

/** Changes what stands in a record, behind the back of every process. */
function tamper(path: string, tenant: string): void {
  const db = new DatabaseSync(path)
  db.prepare(
    `UPDATE records SET text = replace(text, '"shop.look"', '"shop.hook"') WHERE tenant = ? AND sequence = (SELECT min(sequence) FROM records WHERE tenant = ? AND text LIKE '%"shop.look"%')`,
  ).run(tenant, tenant)
  db.close()
}

/** Makes all calls a year old, behind the back of every process. */
function age(path: string): void {
  const db = new DatabaseSync(path)
  db.exec("UPDATE records SET text = json_set(text, '$.at', 1) WHERE kind IN ('begin', 'end')")
  db.close()
}

test('a person verifies the chains with one press, and is told the first record that was changed', async () => {
  const { link, shop, place } = await startConsole()
  const session = shop.runtime.session({ actor: 'ann' })
  for (const order of ['1', '2', '3']) await session.call('shop.look', { order })
  await shop.runtime.setToolState('shop.refund', 'paused', { by: 'ann', reason: 'inventory' })
  const { page, faults } = await openPage(browser(), link)
  await page.getByRole('link', { name: 'Evidence', exact: true }).click()
  await page.getByText('tool paused').first().waitFor()
  await page.getByRole('button', { name: 'Verify' }).press('Enter')
  await page.getByText(/The chains hold: \d+ records of 3 calls/).waitFor()
  tamper(place.store, 'local')
  await page.getByRole('button', { name: 'Verify' }).press('Enter')
  await page.getByText(/changed: tenant "local", record \d+/).waitFor()
  const db = new DatabaseSync(place.store)
  db.exec("UPDATE records SET text = '[]' WHERE tenant = 'local' AND sequence = 2")
  db.exec("UPDATE records SET text = 'null' WHERE text LIKE '%tool_paused%'")
  db.close()
  await page.goto(new URL('/evidence?tenant=local&record=1000', page.url()).href)
  await page.getByText('not a record any more').waitFor()
  await page.goto(new URL('/evidence', page.url()).href)
  await page.getByText('visit began').first().waitFor()
  expect(await page.getByText('tool paused').count()).toBe(0)
  expect(faults).toEqual([])
})

test('a person takes the evidence out, which is noted and verifies, and sees what a prune would take while nothing goes', async () => {
  const { link, shop, place, origin } = await startConsole()
  const { api } = await enter(link)
  const session = shop.runtime.session({ actor: 'ann' })
  for (const order of ['1', '2']) await session.call('shop.look', { order })
  const { stdout } = await handrail(place, ['console', '--port', new URL(origin).port])
  const { page, faults } = await openPage(browser(), stdout.trim())
  await page.getByRole('link', { name: 'Evidence', exact: true }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: /^Download the evidence/ }).click(),
  ])
  const file = await download.path()
  const verified = await handrail(place, ['evidence', 'verify', '--file', file])
  expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('2 calls')])
  const { notes } = (await api('/notes?event=evidence_exported')).body
  // Both were made in a moment, or in two.
  const exported = notes.map(({ actor, tenant }: Record<string, string>) => [tenant, actor]).toSorted()
  expect(exported).toEqual(['', 'local'].map((tenant) => [tenant, userInfo().username]))
  expect((await api('/notes?actor=nobody')).body.notes).toEqual([])
  for (const query of ['days=0', 'days=x', 'days=99999'])
    expect((await api(`/evidence/prune?${query}`)).status).toBe(400)
  expect((await api('/evidence/progress')).body).toEqual({})
  await page.getByLabel('Older than').fill('1')
  await page.getByRole('button', { name: 'Count' }).press('Enter')
  await page.getByText('Nothing is that old.').waitFor()
  age(place.store)
  await page.getByRole('button', { name: 'Count' }).press('Enter')
  await page.getByText('4 of local. Nothing went.').waitFor()
  const bodies = [...shop.runtime.store.records({ kind: 'end' })].filter(({ body }) => body !== null)
  expect([bodies.length, faults]).toEqual([2, []])
})

test('notes are paged, the newest first, and none is left out or told twice', async () => {
  const { link, shop } = await startConsole()
  for (const state of ['paused', 'enabled', 'paused', 'enabled', 'paused'] as const)
    await shop.runtime.setToolState('shop.refund', state, { by: 'ann' })
  const { api } = await enter(link)
  const all = (await api('/notes?limit=500')).body
  expect([all.notes.length > 5, all.next]).toEqual([true, undefined])
  expect(all.notes[0]).toMatchObject({ event: 'visit_began', tenant: '' })
  expect(all.notes[1]).toMatchObject({ event: 'tool_paused', tool: 'shop.refund', actor: 'ann' })
  const paged: unknown[] = []
  for (let next: string | undefined = ''; next !== undefined;) {
    const { body } = await api(`/notes?limit=2${next === '' ? '' : `&before=${next}`}`)
    paged.push(...body.notes)
    next = body.next
  }
  expect(paged).toEqual(all.notes)
  for (const query of ['limit=0', 'limit=501', 'limit=x', 'before=x'])
    expect((await api(`/notes?${query}`)).status).toBe(400)
})

test('a tenant sees and verifies its own chain only, and what is wrong with another one is not told to it', async () => {
  const { origin, link, shop, place } = await startConsole({
    'policy.json': { tenants: { acme: {} } },
    'gateway.json': { tokens: [caller('eve', { approver: true, tenant: 'acme' }), caller('ann')] },
  })
  await shop.runtime.session({ actor: 'zoe', tenant: 'acme' }).call('shop.look', { order: '1' })
  await shop.runtime.session({ actor: 'ann' }).call('shop.look', { order: '1' })
  await shop.runtime.setToolState('shop.refund', 'paused', { by: 'ann', tenant: 'local' })
  await shop.runtime.setToolState('shop.refund', 'paused', { by: 'zoe', tenant: 'acme' })
  const as = (id: string, path: string, body?: object) =>
    askApi(origin, path, {
      headers: { authorization: `Bearer hr_${id}`, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
  for (const path of ['/evidence', '/notes']) expect((await as('ann', path)).status).toBe(403)
  expect((await as('ann', '/evidence/verify', {})).status).toBe(403)
  // An export has inputs and results, which an approver may not take out.
  expect((await as('eve', '/evidence/export')).status).toBe(403)
  expect((await as('eve', '/evidence/prune')).body.tenants).toEqual([])
  const { chains } = (await as('eve', '/evidence')).body
  expect(chains).toMatchObject([{ tenant: 'acme', hash: shop.runtime.store.head('acme')?.hash }])
  const { notes } = (await as('eve', '/notes')).body
  expect(new Set(notes.map((note: { tenant: string }) => note.tenant))).toEqual(new Set(['acme']))
  const { records } = (await as('eve', '/records?record=9999')).body
  expect(records.map(({ tenant }: { tenant: string }) => tenant)).toEqual(records.map(() => 'acme'))
  expect(records).toHaveLength(shop.runtime.store.head('acme')?.sequence ?? 0)
  for (const path of ['/records', '/calls', '/notes'])
    expect([path, (await as('eve', `${path}?tenant=local&record=1`)).status]).toEqual([path, 403])
  expect((await as('eve', '/evidence/verify', { tenant: 'local' })).status).toBe(403)
  tamper(place.store, 'local')
  expect((await as('eve', '/evidence/verify', {})).body).toMatchObject({ ok: true, calls: 1 })
  const { change } = await enter(link)
  expect((await change('/evidence/verify', {})).body).toMatchObject({
    ok: false,
    issue: { tenant: 'local', problem: 'changed' },
  })
  expect((await change('/evidence/verify', { tenant: 'acme' })).body).toMatchObject({ ok: true, calls: 1 })
  expect((await change('/evidence/verify', { tenant: 'nobody' })).status).toBe(404)
})
