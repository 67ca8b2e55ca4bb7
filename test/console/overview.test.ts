import { expect, test } from 'vitest'
import { handrail } from '../support/command-line.ts'
import { findFaults } from '../support/find-faults.ts'
import { recordManyCalls } from '../support/many-calls.ts'
import { runModel } from '../support/run-model.ts'
import { askApi, caller, enter, keepBrowser, openPage, startConsole } from '../support/console.ts'

const browser = keepBrowser()

test('a person sees how many calls were made, denied and failed, how long they took, what runs cost and how long people were waited for, also over time', async () => {
  const { link, shop, ask, place, origin } = await startConsole({
    'policy.json': { rules: [{ tools: ['shop.brief'], effect: 'deny', reason: 'No.' }] },
    'prices.json': { 'anthropic/test-model': { input: 10_000, output: 1_000 } },
  })
  await runModel(place, [{ text: 'Done.' }], { argv: ['say something'] })
  const session = shop.runtime.session({ actor: 'ann' })
  for (const order of ['1', '2', '3']) await session.call('shop.look', { order })
  await session.call('shop.brief', { order: '1' })
  await session.call('shop.look', {})
  const answered = await ask('4')
  await ask('5')
  await shop.runtime.approvals.decide(answered.approval.id, { decision: 'allow_once', by: 'bob' })
  await answered.session.resume(answered.step)
  const decided = shop.runtime.approvals.find(answered.approval.id)
  const wait = (decided?.answers[0]?.at ?? 0) - (decided?.askedAt ?? 0)

  const { page, faults } = await openPage(browser(), link)
  await page.getByRole('link', { name: 'Overview', exact: true }).click()
  await page.getByText('The store takes records.').waitFor()
  const { stdout } = await handrail(place, ['console', '--port', new URL(origin).port])
  const { api } = await enter(stdout.trim())
  const { body } = await api('/overview')
  const { body: listed } = await api('/calls')
  expect(body.counts.calls).toBe(listed.calls.length)
  expect(body.counts).toMatchObject({ denied: 1, failed: 1 })
  const { calls, ok, denied, failed, aborted, open } = body.counts
  expect(ok + denied + failed + aborted + open).toBe(calls)
  const over = (name: string, times: Record<string, number>[] = body.times): number =>
    times.reduce((sum, each) => sum + (each[name] ?? 0), 0)
  expect(over('calls')).toBe(calls)
  const { runs, tokens, cost } = body.spend
  expect([runs, over('runs'), over('tokens'), over('cost')]).toEqual([1, 1, tokens, cost])
  expect(cost).toBeGreaterThan(0)
  // One of them waits still; both were asked just now.
  expect([body.times[0].waited, over('waited') >= 2, body.times.at(-1).waited >= 1]).toEqual([0, true, true])
  const look = body.tools.find(({ tool }: { tool: string }) => tool === 'shop.look')
  const took = listed.calls.flatMap((each: { tool: string; durationMs: number }) =>
    each.tool === 'shop.look' ? [each.durationMs] : [],
  )
  // Two digits are told of a long time.
  const unit = 10 ** Math.max(0, String(Math.max(...took)).length - 2)
  const longest = Math.floor(Math.max(...took) / unit) * unit
  expect(look).toMatchObject({ calls: 4, ok: 3, failed: 1, p95Ms: longest })
  expect(body).toMatchObject({
    isWhole: true,
    spend: { isWhole: true },
    approvals: { waiting: 1, answered: 1, medianMs: wait, longestMs: wait },
  })
  expect((await api('/health')).body).toMatchObject({
    troubles: [],
    findings: expect.arrayContaining([expect.objectContaining({ id: 'store', holds: true })]),
  })
  await page.getByText(/What handrail doctor says of the home folder: \d+ of \d+ hold/).waitFor()
  await page.getByLabel('Within').selectOption('the last day')
  await page.getByRole('link', { name: 'shop.look' }).waitFor()
  const row = page.getByRole('row', { name: /^shop.look/ })
  await expect
    .poll(async () => (await row.getByRole('cell').allTextContents()).slice(1, 4))
    .toEqual(['4', '0', '1'])
  await recordManyCalls(shop.runtime.store, {
    calls: 300,
    until: Date.now() - 3 * 86_400_000,
    every: 3_600_000,
  })
  await page.getByLabel('Within').selectOption('the last 31 days')
  await page.getByRole('img', { name: /^Calls over time: most 24, in \w+,? \d+ \w+$/ }).waitFor()
  await page.getByRole('img', { name: 'Failed over time: most 1,' }).waitFor()
  await page.getByText('The charts as a table').press('Enter')
  const days = page.getByRole('table', { name: 'Over time' }).getByRole('row')
  const told = () => days.locator('td:nth-child(2)').allTextContents()
  await expect.poll(async () => (await told()).reduce((sum, text) => sum + Number(text), 0)).toBe(calls + 300)
  expect((await told()).length).toBeLessThanOrEqual(32)
  // What is known for a day is not shown for a month.
  expect(await page.getByRole('img', { name: 'Questions that waited' }).count()).toBe(0)
  expect(await findFaults(page)).toEqual([])
  expect(faults).toEqual([])
})

test('a tenant is told the numbers of its own calls and questions only', async () => {
  const { origin, shop, ask } = await startConsole({
    'policy.json': { tenants: { acme: {} } },
    'gateway.json': { tokens: [caller('eve', { approver: true, tenant: 'acme' }), caller('ann')] },
  })
  await ask('1')
  await shop.runtime.session({ actor: 'ann' }).call('shop.brief', {})
  await shop.runtime.session({ actor: 'zoe', tenant: 'acme' }).call('shop.look', { order: '1' })
  const as = (id: string, query = '') =>
    askApi(origin, `/overview${query}`, { headers: { authorization: `Bearer hr_${id}` } })
  expect((await as('ann')).status).toBe(403)
  const { times } = (await as('eve')).body
  expect(times.some(({ waited }: { waited: number }) => waited > 0)).toBe(false)
  expect((await as('eve')).body).toMatchObject({
    counts: { calls: 1, ok: 1 },
    tools: [{ tool: 'shop.look' }],
    approvals: { waiting: 0, answered: 0 },
  })
  const health = await askApi(origin, '/health', { headers: { authorization: 'Bearer hr_eve' } })
  expect(health.body).toEqual({ troubles: [], findings: [] })
  for (const minutes of ['0', '-1', 'x', '1.5', '99999999'])
    expect((await as('eve', `?minutes=${minutes}`)).status).toBe(400)
})
