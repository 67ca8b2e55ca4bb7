import { codeTools } from 'handrail'
import type { Page } from 'playwright-core'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { handrail } from '../support/command-line.ts'
import { keepBrowser, openPage, startConsole } from '../support/console.ts'
import { findFaults } from '../support/find-faults.ts'
import { openShop, refundOf } from '../support/shop.ts'
import { startServer } from '../support/start-command.ts'

const browser = keepBrowser()
const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
const rows = (page: Page) => page.locator('.row')

/** What one session asks about several refunds. */
async function askAll(
  shop: Awaited<ReturnType<typeof openShop>>,
  orders: readonly string[],
  as: object = {},
) {
  const session = shop.runtime.session({ actor: 'ann', ...as })
  const step = await session.step(orders.map((order) => refundOf(order, order)))
  return { session, step }
}

test('alike calls are answered together by keyboard, each by its own digest, and the one that another person answered meanwhile is told', async () => {
  const { link, shop, place, origin } = await startConsole()
  const { stdout } = await handrail(place, ['console', '--port', new URL(origin).port])
  const [{ page: one }, { page: other, faults }] = [
    await openPage(browser(), link),
    await openPage(browser(), stdout.trim(), { viewport: { width: 320, height: 640 }, colorScheme: 'dark' }),
  ]
  const { session, step } = await askAll(shop, ['1', '2', '3'])
  await expect.poll(() => rows(other).count()).toBe(3)
  expect(await other.title()).toBe('(3) Handrail')
  await other.keyboard.press('b')
  await other.getByRole('heading', { name: '3 selected' }).waitFor()
  expect(await findFaults(other)).toEqual([])

  const denied: string[] = []
  await other.route('**/api/approvals/*', async (route) => {
    if (route.request().method() === 'POST' && denied.push(route.request().url()) === 1) {
      await one.locator('.row button').nth(2).click()
      await one.keyboard.press('d')
      await one.keyboard.type('not this one')
      await one.keyboard.press('Enter')
      await one.getByText('Denied: shop.refund').waitFor()
    }
    await route.continue()
  })
  await other.keyboard.press('a')
  await other.getByText('Allowed: 2 of 3').waitFor()
  const became = await other
    .getByRole('list', { name: 'What became of each' })
    .locator('li')
    .allTextContents()
  expect(became).toEqual([
    'shop.refund {"order":"1"}: allowed',
    'shop.refund {"order":"2"}: allowed',
    expect.stringMatching(/^shop\.refund \{"order":"3"\}: .*(denied|answered)/),
  ])
  await other.getByText('Nothing waits for you.').waitFor()
  expect(await findFaults(other)).toEqual([])
  const { results } = await session.resume(step)
  expect(results.map(({ ok }) => ok)).toEqual([true, true, false])
  expect([shop.done, faults.filter((fault) => !fault.includes('409'))]).toEqual([['1', '2'], []])
})

test('a batch has only calls that read alike: neither those of another session or tool, nor any dangerous one', async () => {
  const { link, shop } = await startConsole()
  const { page } = await openPage(browser(), link)
  const { session } = await askAll(shop, ['1', '2'])
  await session.step([{ id: 'b', tool: 'shop.brief', input: { order: '1' } }])
  await askAll(shop, ['3'])
  await expect.poll(() => rows(page).count()).toBe(4)
  expect(await page.locator('.group').count()).toBe(2)
  const boxes = page.getByRole('checkbox', { name: /^Select shop\./ })
  expect(await boxes.count()).toBe(2)
  await boxes.nth(0).check()
  await page.getByRole('heading', { name: '1 selected' }).waitFor()
  await page.keyboard.press('s')
  await page.keyboard.press('Escape')
  await page.getByRole('region', { name: 'Question about shop.refund' }).waitFor()
  expect(shop.runtime.approvals.list()).toHaveLength(4)
})

test('a card says who asks and who started them, and stays what it is when it is answered elsewhere, over a restart too', async () => {
  const { link, shop, server, place, origin } = await startConsole()
  const { page } = await openPage(browser(), link)
  const parent = shop.runtime.session({ actor: 'ann' })
  const agent = { agentId: evil, runId: 'run-7', parentAgentId: 'boss' }
  const { step } = await askAll(shop, ['1', '2'], { parent, role: 'main', agent })
  await expect.poll(() => rows(page).count()).toBe(2)
  for (const text of ['ann of local', `${evil} in run run-7, started by boss`, `main, session ${parent.id}`])
    await page.getByText(text, { exact: true }).waitFor()
  expect(await page.locator('main img, main script').count()).toBe(0)
  expect(await page.locator('.card .countdown').textContent()).toMatch(/^\d+(:\d\d)+$|^\d+ d \d+ h$/)

  server.stop()
  await server.ended
  await page.getByText('reconnecting…').waitFor()
  await startServer(place, ['--port', new URL(origin).port])
  await page.getByText('reconnecting…').waitFor({ state: 'hidden' })
  expect(await rows(page).count()).toBe(2)
  const [first] = step.waiting
  await shop.runtime.approvals.decide(first?.approval.id ?? '', { decision: 'deny', by: 'bob', reason: 'no' })
  await page.getByText('Over: denied by bob: no.').waitFor()
  await page.keyboard.press('a')
  expect(await page.getByRole('button', { name: 'Allow once' }).count()).toBe(0)
  await page.keyboard.press('j')
  await page.getByRole('button', { name: 'Allow once' }).waitFor()
  expect(shop.runtime.approvals.list()).toHaveLength(1)
})

test('what waits is notified and sounds once it was turned on, which the browser remembers', async () => {
  const { link, shop } = await startConsole()
  const { page } = await openPage(browser(), link, { permissions: ['notifications'] })
  await page.addInitScript(`
    window.told = []
    window.Notification = class extends EventTarget {
      static permission = 'granted'
      static requestPermission = async () => 'granted'
      constructor(title, { body }) { super(); told.push(title + ' | ' + body) }
    }
    const start = OscillatorNode.prototype.start
    OscillatorNode.prototype.start = function (at) { told.push('tone'); return start.call(this, at) }
  `)
  await page.reload()
  const told = () => page.evaluate('told')
  const [notify, sound] = ['Notify me in this browser', 'Play a sound'].map((name) =>
    page.getByRole('checkbox', { name }),
  )
  await page.getByText('Nothing waits for you.').waitFor()
  await askAll(shop, ['1'])
  await expect.poll(() => rows(page).count()).toBe(1)
  expect([await notify?.isChecked(), await sound?.isChecked(), await told()]).toEqual([false, false, []])
  await notify?.check()
  await sound?.check()
  expect(await told()).toEqual(['tone', 'tone'])
  await page.reload()
  await expect.poll(() => rows(page).count()).toBe(1)
  expect([await notify?.isChecked(), await sound?.isChecked(), await told()]).toEqual([true, true, []])
  await page.getByRole('link', { name: 'Tools', exact: true }).click()
  await askAll(shop, ['2'])
  await expect.poll(told).toEqual(['tone', 'tone', expect.stringMatching(/^shop\.refund waits \| ann: /)])
  await page.getByRole('link', { name: /^Inbox/ }).click()
  await notify?.uncheck()
  await page.reload()
  await expect.poll(() => rows(page).count()).toBe(2)
  expect([await notify?.isChecked(), await sound?.isChecked()]).toEqual([false, true])
})

test('a diff has the colours of its language and is the text that it was; a tool that shows nothing has its input as a form', async () => {
  const { link, place } = await startConsole()
  const shop = await openShop(place.store, { tools: [codeTools()] })
  const content = `export const page: string = '${evil}' // --- a\n--- x\n+++ b\nlet y = 1\n`
  const session = shop.runtime.session({ actor: 'ann' })
  await session.step([{ id: 'w', tool: 'code.write_file', input: { path: 'a.ts', content } }])
  const { page, faults } = await openPage(browser(), link)
  await page.locator('.code-keyword', { hasText: 'export' }).waitFor()
  const [asked] = shop.runtime.approvals.list()
  expect((await page.locator('.preview pre').textContent())?.trimEnd()).toBe(
    asked?.request.preview.body.trimEnd(),
  )
  expect(await page.locator('.added').count()).toBe(4)
  expect(await findFaults(page)).toEqual([])
  expect([await page.locator('main img, main script').count(), faults]).toEqual([0, []])
})

test('the scripts of the inbox are at most 60 kB, compressed', async () => {
  const { origin } = await startConsole()
  const sizes = await Promise.all(
    ['console.js', 'color-code.js'].map(async (name) => {
      const response = await fetch(`${origin}/console/${name}`)
      expect(response.status).toBe(200)
      return gzipSync(await response.text()).length
    }),
  )
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(60_000)
})
