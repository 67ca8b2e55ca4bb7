import { expect, test } from 'vitest'
import { keepBrowser, enter, openPage, startConsole } from '../support/console.ts'
import { findFaults } from '../support/find-faults.ts'
import { recordManyCalls } from '../support/many-calls.ts'
import { rounds } from '../support/rounds.ts'

const browser = keepBrowser()
const count = rounds({ usual: 1_500, long: 1_000_000 })

/** As a field for local times has it. */
const toLocal = (time: number): string =>
  new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 19)

/** All rows of a list, page after page. */
async function readAll(api: Awaited<ReturnType<typeof enter>>['api'], query: string) {
  const calls: {
    call: string
    tool: string
    actor: string
    outcome: string
    session: string
    at: number
    sequence: number
  }[] = []
  for (let next: string | undefined = ''; next !== undefined;) {
    const { body } = await api(`/calls?limit=500${query}${next === '' ? '' : `&before=${next}`}`)
    calls.push(...body.calls)
    next = body.next
  }
  return calls
}

test('of many calls a person finds those of a tool, an actor, a session, an outcome and a time, from any time or record on, and the API leaves none out', async () => {
  const { link, shop } = await startConsole()
  const { api } = await enter(link)
  const now = Date.now()
  await recordManyCalls(shop.runtime.store, { calls: count, until: now })
  const few = count <= 1_500
  const all = few ? await readAll(api, '') : []
  if (few) expect(all).toHaveLength(count)
  const middle = now - Math.floor(count / 2) * 1000
  const sought = [
    [`&until=${middle}`, ({ at }) => at < middle],
    [`&until=${middle}&tool=web.*`, ({ at, tool }) => at < middle && tool === 'web.fetch'],
    [`&until=${middle}&outcome=denied`, ({ at, outcome }) => at < middle && outcome === 'denied'],
    [`&until=${now - count * 1000}`, () => false],
    ['&record=1001', ({ sequence }) => sequence <= 1001],
    ['&record=1001&actor=actor_3', ({ sequence, actor }) => sequence <= 1001 && actor === 'actor_3'],
    ['&tenant=local', () => true],
    ['&tool=web.*&actor=actor_3', (each) => each.tool === 'web.fetch' && each.actor === 'actor_3'],
    ['&outcome=denied', (each) => each.outcome === 'denied'],
    ['&outcome=denied&tool=code.*', (each) => each.outcome === 'denied' && each.tool.startsWith('code.')],
    ['&session=ses_000000000007', (each) => each.session === 'ses_000000000007'],
    ['&outcome=running', () => false],
    ['&tool=web.[f]etch', () => false],
    ['&actor=nobody', () => false],
  ] satisfies [string, (each: (typeof all)[number]) => boolean][]
  for (const [query, fits] of sought)
    if (few) expect([query, await readAll(api, query)]).toEqual([query, all.filter(fits)])
  const lately = await readAll(api, `&since=${now - 60_500}`)
  expect(lately).toHaveLength(60)
  const [last] = (await api(`/calls?limit=1&until=${middle}`)).body.calls
  expect([last.at, last.sequence]).toEqual([middle - 1000, 2 * (count - Math.floor(count / 2)) - 1])
  const jumped = (await api(`/records?limit=3&until=${middle}`)).body
  const places = ({ records }: typeof jumped) => records.map(({ sequence }: typeof last) => sequence)
  expect(places(jumped)).toEqual([1, 0, -1].map((by) => last.sequence + by))
  expect(places((await api(`/records?limit=2&before=${jumped.next}`)).body)).toEqual(
    [-2, -3].map((by) => last.sequence + by),
  )
  expect((await api('/calls?tenant=nobody')).status).toBe(404)
  for (const query of ['until=x', 'record=0', 'record=x', 'outcome=good', 'since=x', 'limit=501', 'before=x'])
    expect((await api(`/calls?${query}`)).status).toBe(400)
  // Those of before the last whole hour and of after it.
  let figures = (await api('/overview?minutes=44640')).body
  while (figures.isWhole === false) figures = (await api('/overview?minutes=44640')).body
  expect([figures.counts.calls, figures.counts.denied]).toEqual([count, Math.ceil((count - 7) / 50)])
  const session = shop.runtime.session({ actor: 'ann' })
  await session.call('shop.look', { order: '1' })
  await recordManyCalls(shop.runtime.store, { calls: 10, until: now - 86_400_000, tenant: 'later' })
  expect((await api('/overview?minutes=44640')).body.counts.calls).toBe(count + 11)
})

test('a list of many calls has few rows on the page, however far it is scrolled, and is searched by keyboard', async () => {
  const { link, shop } = await startConsole()
  const now = Math.floor(Date.now() / 1000) * 1000
  await recordManyCalls(shop.runtime.store, { calls: count, until: now })
  const { page, faults } = await openPage(browser(), link, { viewport: { width: 1000, height: 600 } })
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  const status = page.getByText(/\d+ of \d+ calls/)
  await page.getByText('100 of 100 calls, and more before').waitFor()
  for (const loaded of [200, 400, 800]) {
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 30 * loaded)
        return Number((await status.textContent())?.split(' ')[0])
      })
      .toBeGreaterThan(loaded)
    expect(await page.locator('table.calls tbody tr:not(.gap)').count()).toBeLessThan(80)
  }
  await page.evaluate('scrollTo(0, 0)')
  await page.getByLabel('Tool', { exact: true }).fill('web.*')
  await page.getByLabel('Tool', { exact: true }).press('Enter')
  await page.getByLabel('Actor').fill('actor_3')
  await page.getByLabel('Actor').press('Enter')
  await page.getByLabel('Outcome').selectOption('ok')
  const rows = page.locator('table.calls tbody tr:not(.gap)')
  await expect.poll(() => rows.first().textContent()).toMatch(/web\.fetch.*actor_3/)
  expect(await findFaults(page)).toEqual([])
  await page.getByLabel('Actor').fill('nobody')
  await page.getByLabel('Actor').press('Enter')
  await page.getByText('No calls.').waitFor()
  await page.goto(new URL('/live', page.url()).href)
  const before = page.getByLabel('Before')
  const record = page.getByLabel('from record')
  const firstRow = async (place: number) =>
    expect.poll(() => rows.first().locator('td').nth(2).getAttribute('title')).toContain(`record ${place} of`)
  await record.fill('801')
  await record.press('Enter')
  await firstRow(801)
  expect(new URL(page.url()).search).toBe('?record=801')
  // Of a list that begins elsewhere, what happens now is no part.
  await shop.runtime.session().call('shop.look', { order: '1' })
  await before.fill(toLocal(now - 500_000))
  await before.press('Enter')
  const at = 2 * (count - 500) - 1
  await firstRow(at)
  await page.reload()
  await firstRow(at)
  expect(await findFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Newest' }).press('Enter')
  await rows.first().getByText('shop.look').waitFor()
  expect(new URL(page.url()).search).toBe('')
  await page.getByRole('link', { name: 'Evidence', exact: true }).click()
  await page.getByRole('heading', { name: 'Evidence' }).waitFor()
  const list = page.getByRole('table', { name: 'Records' }).getByRole('row')
  await record.fill('700')
  await record.press('Enter')
  await expect.poll(() => list.nth(1).getByRole('cell').first().textContent()).toBe('700')
  expect(await findFaults(page)).toEqual([])
  expect(faults).toEqual([])
})

test('a person sees the sessions at work, each below the one that opened it, and what each does', async () => {
  const { link, shop, ask } = await startConsole()
  const session = shop.runtime.session({ actor: 'ann' })
  await session.call('shop.look', { order: '1' })
  await shop.runtime.session({ parent: session }).call('shop.look', { order: '2' })
  const { approval } = await ask('3', { actor: 'bob' })
  const { page, faults } = await openPage(browser(), link)
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await page.getByText('Sessions of the last hour: 3, 1 at work').press('Enter')
  await page.locator('.tree .tree').getByText('sub').waitFor()
  await page.getByRole('listitem').filter({ hasText: 'bob' }).getByText('waiting').waitFor()
  await session.call('shop.look', { order: '4' })
  await page.locator('.tree').getByText('shop.look').first().waitFor()
  await shop.runtime.approvals.decide(approval.id, { decision: 'deny', by: 'ann' })
  await page.getByText(/Sessions of the last hour: \d, 0 at work/).waitFor()
  expect([await findFaults(page), faults]).toEqual([[], []])
})
