import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { openOffice } from '../support/approved.ts'
import { keepOpen } from '../support/at-end.ts'
import { handrail, makePlace } from '../support/command-line.ts'
import { keepBrowser, openPage, startConsole } from '../support/console.ts'

const browser = keepBrowser()

const shared = keepOpen(async () => {
  const own = { 'policy.json': '{ "rules": [] }' }
  const started = await startConsole({}, makePlace({ 'a.txt': 'alpha\n' }, own))
  return { ...started, office: await openOffice(started.place) }
})

/** A person who just opened this path of the console, after `before` was done to their browser. */
async function visit(path: string, before: (page: Page) => Promise<void> = async () => {}) {
  const { place, origin } = shared()
  const { stdout } = await handrail(place, ['console', '--port', new URL(origin).port])
  const { page } = await openPage(browser(), stdout.trim())
  await page.goto('about:blank')
  await before(page)
  await page.goto(`${origin}${path}`)
  return page
}

/** Keeps back what a page asks for by such a path. */
async function hold(page: Page, path: string) {
  const held: Route[] = []
  await page.route(path, (route) => void held.push(route))
  /** What was asked for at this place, as soon as it was. */
  const asked = async (at: number): Promise<Route> => {
    await expect.poll(() => held.length).toBeGreaterThan(at)
    return held[at] as Route
  }
  return {
    asked,
    release: async (at: number) => (await asked(at)).continue(),
    count: () => held.length,
    end: () => page.unroute(path),
  }
}

test('what a person writes stays where they write it, whatever ends or arrives meanwhile, and no letter of it is a key', async () => {
  const { ask, shop } = shared()
  const decide = (id: string) => shop.runtime.approvals.decide(id, { decision: 'deny', by: 'bob' })
  const [first, second] = [await ask('1'), await ask('2')]
  const page = await visit('/inbox')
  const reason = page.getByRole('textbox', { name: 'Reason' })
  const card = page.getByRole('region', { name: 'Question about shop.refund' })
  await card.getByText('"order": "1"').waitFor()
  await page.keyboard.press('d')
  await page.keyboard.type('no, re')
  await decide(first.approval.id)
  await card.getByText('waits no more').waitFor()
  await page.keyboard.type('ject all')
  expect(await reason.inputValue()).toBe('no, reject all')
  await card.getByText('waits no more').waitFor()
  await page.keyboard.press('Escape')
  await reason.waitFor({ state: 'hidden' })
  await page.keyboard.press('j')
  await card.getByText('"order": "2"').waitFor()

  const rule = await hold(page, '**/rule')
  await page.keyboard.press('r')
  await rule.asked(0)
  await page.keyboard.press('d')
  await page.keyboard.type('yes')
  await rule.release(0)
  await page.getByRole('region', { name: 'Always, as a rule' }).getByRole('heading').waitFor()
  await page.keyboard.type(' of course')
  expect(await reason.inputValue()).toBe('yes of course')
  // The last one too.
  await decide(second.approval.id)
  await card.getByText('waits no more').waitFor()
  await page.keyboard.type(', as always')
  expect(await reason.inputValue()).toBe('yes of course, as always')
  await page.keyboard.press('Escape')
  await page.getByText('Nothing waits for you.').waitFor()
})

test('calls that happen while the list of them is on its way, or before the stream of events is there, are in it', async () => {
  const { shop, ask } = shared()
  const session = shop.runtime.session({ actor: 'ann' })
  let stream: Awaited<ReturnType<typeof hold>> | undefined
  const page = await visit('/live', async (opened) => {
    stream = await hold(opened, '**/api/events')
  })
  await page.getByText(/^\d+ of \d+ calls/).waitFor()
  const early = await session.call('shop.look', { order: 'early' })
  await stream?.release(0)
  const row = (call: string | undefined) => page.locator(`table.calls a[href="/calls/${call}"]`)
  await row(early.callId).waitFor()

  await page.getByLabel('Outcome').selectOption('denied')
  await page.getByText('No calls.').waitFor()
  const whole = await hold(page, '**/api/calls')
  await page.getByLabel('Outcome').selectOption('')
  const all = await whole.asked(0)
  const before = await all.fetch()
  const again = page.waitForRequest('**/api/sessions')
  const late = await session.call('shop.look', { order: 'late' })
  await again
  await all.fulfill({ response: before })
  await row(late.callId).waitFor()

  // Nothing is said to wait, or not to, before that is known.
  const { approval } = await ask('3')
  await page.route('**/api/me', (route) => route.abort())
  await page.goto(new URL('/inbox', page.url()).href)
  await page.getByText('Failed to fetch').waitFor()
  await page.unroute('**/api/me')
  await stream?.end()
  const events = await hold(page, '**/api/events')
  await page.reload()
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  await page.getByText('Loading…').waitFor()
  expect(await page.getByText('Nothing waits for you.').count()).toBe(0)
  await events.release(0)
  await page.getByRole('region', { name: 'Question about shop.refund' }).waitFor()
  await shop.runtime.approvals.decide(approval.id, { decision: 'deny', by: 'bob' })
  await page.getByText('Nothing waits for you.').waitFor()
})

test('an answer of before takes the place of no newer one, none is lost as it was asked again, and a change is sent once', async () => {
  const page = await visit('/tools/code.read_file')
  const form = page.getByRole('region', { name: 'Try it' })
  const look = form.getByRole('button', { name: 'What would happen' })
  const path = form.getByRole('textbox', { name: 'path', exact: true })
  const preflight = await hold(page, '**/preflight')
  await path.fill('a.txt')
  await look.click()
  await preflight.asked(0)
  await path.fill('b.txt')
  await preflight.release(0)
  await expect.poll(() => look.isEnabled()).toBe(true)
  // What was looked at is not what would run.
  expect(await form.getByRole('button', { name: 'Run it' }).count()).toBe(0)

  const state = await hold(page, '**/state')
  await page.getByRole('button', { name: 'Pause', exact: true }).evaluate((button) => {
    for (let press = 0; press < 2; press++) (button as unknown as { click(): void }).click()
  })
  const detail = await hold(page, '**/api/tools/*')
  await state.release(0)
  await detail.asked(0)
  expect(await page.getByRole('button', { name: 'Pause', exact: true }).isDisabled()).toBe(true)
  await detail.release(0)
  await page.getByRole('button', { name: 'Enable' }).click()
  await state.release(1)
  await detail.release(1)
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
  expect(state.count()).toBe(2)

  // Of another tool nothing is shown, or done, that is of this one.
  await page.evaluate(
    `history.pushState(null, '', '/tools/code.write_file'), dispatchEvent(new Event('popstate'))`,
  )
  await detail.asked(2)
  await page.getByText('Loading…').waitFor()
  expect(await page.getByRole('button', { name: 'Pause', exact: true }).count()).toBe(0)
  await detail.end()

  const servers = await hold(page, '**/api/servers')
  await page.getByRole('link', { name: 'Servers', exact: true }).click()
  const status = page.getByRole('heading', { name: 'Servers' }).locator('..').getByRole('status')
  const tell = async (at: number, names: string[], isBehind = false) =>
    (await servers.asked(at)).fulfill({
      json: {
        servers: names.map((server) => ({ server, state: 'open', tools: [], held: [], leftOut: [] })),
        faulty: [],
        notices: [],
        isBehind,
      },
    })
  for (const at of [0, 1, 2]) {
    await servers.asked(at)
    await page.getByRole('button', { name: 'Look again' }).click()
  }
  await tell(0, ['a'])
  await status.getByText('1 server').waitFor()
  await tell(2, ['a', 'b'])
  await status.getByText('2 servers').waitFor()
  await tell(1, [])
  // The file says more than what was taken over by then: it is looked again.
  await tell(3, ['a', 'b', 'c'], true)
  await status.getByText('3 servers').waitFor()
  await tell(4, [])
  await status.getByText('0 servers').waitFor()
})

test('what is written is what was shown, and of two searches the last one counts', async () => {
  const { place } = shared()
  mkdirSync(join(place.user, '.cursor'), { recursive: true })
  const mcpServers = { left: { command: 'left' }, right: { command: 'right' } }
  writeFileSync(join(place.user, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers }))
  const page = await visit('/servers')
  const plans = await hold(page, '**/api/servers/plan')
  await page.getByText('Import from another program').click()
  await page.getByLabel('left').check()
  await page.getByRole('button', { name: 'Show the change' }).click()
  await plans.asked(0)
  await page.getByLabel('right').check()
  await plans.release(1)
  await page.getByText('+    "right": {').waitFor()
  const first = page.waitForResponse('**/api/servers/plan')
  await plans.release(0)
  await (await first).finished()
  await page.getByText('+    "right": {').waitFor()

  const search = await hold(page, '**/api/registry?*')
  await page.getByText('Search the registry').click()
  for (const [at, words] of ['one', 'two'].entries()) {
    await page.getByRole('textbox', { name: 'Words' }).fill(words)
    await page.keyboard.press('Enter')
    await search.asked(at)
  }
  for (const [at, registry] of [
    [1, 'the second'],
    [0, 'the first'],
  ] as const) {
    const told = page.waitForResponse('**/api/registry?*')
    await (await search.asked(at)).fulfill({ json: { servers: [], registry } })
    await (await told).finished()
    await page.getByText('0 found at the second').waitFor()
  }
})

test('what a person writes into the policy while a rule is added, or while it is saved, is neither lost nor taken back', async () => {
  const { office, place } = shared()
  for (let count = 0; count < 2; count++) await office.write('notes.md')
  const page = await visit('/policy')
  const area = page.getByRole('textbox', { name: 'The policy file' })
  const draft = await hold(page, '**/api/policy/draft')
  await page.getByRole('button', { name: 'Try the rule' }).click()
  await draft.asked(0)
  await area.fill('{ "mode": "plan", "rules": [] }')
  await draft.release(0)
  await draft.release(1)
  await expect.poll(() => area.inputValue()).toContain('notes.md')
  expect(await area.inputValue()).toContain('"mode": "plan"')

  const saving = await hold(page, '**/api/policy')
  const anew = await hold(page, '**/api/policy?saved=1')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await saving.asked(0)
  const saved = await area.inputValue()
  await area.press('Control+End')
  await page.keyboard.type('\n')
  await saving.release(0)
  await page.getByText('Version 2 is saved.').waitFor()
  expect(await area.inputValue()).toBe(`${saved}\n`)
  await page.getByRole('button', { name: 'Drop the change' }).click()
  // The page knows what it saved before the API tells it.
  expect(await area.inputValue()).toBe(saved)
  await anew.release(0)
  await expect.poll(() => readFileSync(join(place.home, 'policy.json'), 'utf8')).toBe(saved)
})
