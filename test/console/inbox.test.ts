import { userInfo } from 'node:os'
import { createRuntime, defineTool } from 'handrail'
import type { StepResult } from 'handrail/approvals'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { openOffice } from '../support/approved.ts'
import { handrail, makePlace } from '../support/command-line.ts'
import { enter, keepBrowser, openPage, startConsole } from '../support/console.ts'
import { firstOf } from '../support/rounds.ts'
import { findFaults } from '../support/find-faults.ts'
import { refundOf } from '../support/shop.ts'

const browser = keepBrowser()
const me = userInfo().username

/** A console, and a program that asks for several refunds at once. */
async function startInbox() {
  const started = await startConsole()
  const { place, origin, shop } = started
  const askAll = async (orders: readonly string[], as: object = { actor: 'ann' }) => {
    const session = shop.runtime.session(as)
    const steps: StepResult[] = []
    for (const [index, order] of orders.entries())
      steps.push(await session.step([refundOf(`call-${index}`, order)]))
    const approvals = steps.flatMap(({ waiting }) => waiting.map(({ approval }) => approval))
    /** What has become of each. */
    const results = async () =>
      (await Promise.all(steps.map((step) => session.resume(step)))).flatMap((step) => step.results)
    return { approvals, results }
  }
  const linkOf = async () =>
    (await handrail(place, ['console', '--port', new URL(origin).port])).stdout.trim()
  return { ...started, askAll, linkOf }
}

/** Writes what a browser is told to notify and to play into `told`, and lets it do so. */
const tellNotices = `
  globalThis.told = []
  globalThis.Notification = new Proxy(Notification, {
    construct(target, given) {
      told.push([given[0], given[1].body])
      return Reflect.construct(target, given)
    },
  })
  const { start } = OscillatorNode.prototype
  OscillatorNode.prototype.start = function (when) {
    told.push('tone')
    start.call(this, when)
  }
`

const picksOf = (page: Page) => page.getByRole('checkbox', { name: /together with others/ })
const batchOf = (page: Page) => page.getByRole('list', { name: 'Decided together' })
const resultsOf = (page: Page) => page.getByRole('list', { name: 'What became of them' })

test('several calls are decided at once, each by its own digest; one that another browser answered is told, and the others count', async () => {
  const { link, linkOf, askAll, shop } = await startInbox()
  const { results, approvals } = await askAll(['1', '2', '3'])
  const [one, other] = [await openPage(browser(), link), await openPage(browser(), await linkOf())]
  const { page } = one
  await page.getByRole('region', { name: 'Question about shop.refund' }).waitFor()
  await page.keyboard.press('X')
  await page.getByRole('heading', { name: '3 of shop.refund, decided together' }).waitFor()

  await other.page.getByRole('button', { name: /shop\.refund.*"order":"2"/ }).click()
  await other.page.getByRole('textbox', { name: 'Reason' }).fill('a <b>gift</b>')
  await other.page.getByRole('button', { name: 'Deny' }).click()
  await other.page.getByText('Denied: shop.refund').waitFor()
  await batchOf(page).getByText('waits no more').waitFor()

  const sent: unknown[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push((request.postDataJSON() as { digest: string }).digest)
  })
  await page.keyboard.press('a')
  await page.getByText('Allowed 2 of 3: shop.refund').waitFor()
  expect(sent).toEqual(approvals.map(({ digest }) => digest))
  expect(new Set(sent).size).toBe(3)
  const [first, second, third] = await resultsOf(page).getByRole('listitem').allTextContents()
  expect([first, third]).toEqual(['{"order":"1"} allowed', '{"order":"3"} allowed'])
  expect(second).toContain(`was answered by ${me} with deny, so this answer does not count`)
  await page.getByText('Nothing waits for you.').waitFor()
  expect((await results()).map(({ outcome }) => outcome)).toEqual(['ok', 'denied', 'ok'])
  expect(shop.done.toSorted()).toEqual(['1', '3'])
  expect(one.faults.filter((fault) => !fault.includes('409'))).toEqual([])
  expect(other.faults).toEqual([])
})

test('only calls of the same tool and session are picked together, and a reason goes to each', async () => {
  const { link, askAll, shop } = await startInbox()
  const { results } = await askAll(['1', '2'])
  await askAll(['3'], { actor: 'bea' })
  const brief = shop.runtime.session({ actor: 'cat' })
  await brief.step([{ id: 'b', tool: 'shop.brief', input: { order: '4' } }])
  const { page, faults } = await openPage(browser(), link)
  await page.getByText('bea of local').waitFor()
  await expect.poll(() => page.getByRole('group', { name: 'What waits' }).getByRole('region').count()).toBe(3)
  await page.keyboard.press('x')
  const disabled = () => picksOf(page).evaluateAll((all) => all.map((each) => each.matches(':disabled')))
  await expect.poll(disabled).toEqual([false, false, true, true])
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key)
  await page.getByText('Only calls of one tool and session').waitFor()
  expect(await batchOf(page).getByRole('listitem').count()).toBe(2)
  await page.keyboard.press('d')
  await page.keyboard.type('not this month')
  await page.keyboard.press('Enter')
  await page.getByText('Denied 2 of 2: shop.refund').waitFor()
  const ended = await results()
  expect(ended.map(({ outcome }) => outcome)).toEqual(['denied', 'denied'])
  expect(ended.map((each) => JSON.stringify(each).includes('not this month'))).toEqual([true, true])
  await expect.poll(() => page.title()).toBe('(2) Handrail')
  expect([shop.done, faults]).toEqual([[], []])
})

test('a dangerous call is decided by itself', async () => {
  const { link, place } = await startInbox()
  const close = defineTool({
    name: 'shop.close',
    description: 'Closes a branch.',
    tags: ['dangerous'],
    input: { type: 'object', properties: { branch: { type: 'string' } } },
    run: () => 'Closed.',
  })
  const runtime = await createRuntime({
    project: place.project,
    tools: [close],
    store: { path: place.store },
  })
  atEnd(() => runtime.close())
  const session = runtime.session({ actor: 'ann' })
  for (const branch of ['north', 'south'])
    await session.step([{ id: branch, tool: 'shop.close', input: { branch } }])
  const { page } = await openPage(browser(), link)
  const card = page.getByRole('region', { name: 'Question about shop.close' })
  await card.getByText('dangerous', { exact: true }).waitFor()
  await expect.poll(() => picksOf(page).count()).toBe(2)
  expect(await page.getByRole('button', { name: /^Pick all/ }).count()).toBe(0)
  await page.keyboard.press('X')
  await page.getByText('Nothing else that waits is like it.').waitFor()
  await page.keyboard.press('x')
  await page
    .getByText('Only calls of one tool and session, asked about by one rule and not dangerous')
    .waitFor()
  await card.waitFor()
  expect(await picksOf(page).evaluateAll((all) => all.map((each) => each.matches(':disabled')))).toEqual([
    true,
    true,
  ])
})

test('a diff is coloured by its language, loaded with the first one, and every letter of it stays text', async () => {
  const place = makePlace({ 'cart.ts': 'const a = 1\n\nconst b = 2\n' })
  const { link } = await startConsole({}, place)
  const { page, requests, faults } = await openPage(browser(), link)
  await page.getByText('Nothing waits for you.').waitFor()
  const colours = () => requests.filter((url) => url.endsWith('/console/colour-diff.js'))
  expect(colours()).toEqual([])
  const office = await openOffice(place, { approve: undefined })
  const content =
    '/* <img src=x\n onerror="document.title=1"> */\nconst text = `<script>${1}</script>`\n-- gone\n\nconst b = 2\n'
  const { waiting } = await office
    .as()
    .step([{ id: 'w', tool: 'code.write_file', input: { path: 'cart.ts', content, overwrite: true } }])
  const diff = page.getByRole('region', { name: 'Question about code.write_file' }).locator('pre')
  await diff.locator('.code.keyword', { hasText: 'const' }).first().waitFor()
  // A comment over two lines is one on both.
  await diff.locator('.added .code.comment', { hasText: 'onerror' }).waitFor()
  await diff.locator('.removed .code.keyword', { hasText: 'const' }).waitFor()
  expect((await diff.textContent())?.trimEnd()).toBe(waiting[0]?.approval.request.preview.body.trimEnd())
  // Also an empty line behind a coloured one stands below it.
  const bottoms = await diff.evaluate(({ children }) =>
    [...children]
      .filter((line) => line.textContent !== '')
      .map((line) => line.getBoundingClientRect().bottom),
  )
  for (const [index, bottom] of bottoms.slice(1).entries())
    expect(bottom - (bottoms[index] ?? 0)).toBeGreaterThan(8)
  expect(await page.locator('img, main script').count()).toBe(0)
  expect([await findFaults(page), faults, colours()]).toEqual([[], [], [expect.any(String)]])
})

test('no question takes the place of the one that a person looks at: an answer of before does not reach it', async () => {
  const { link, linkOf, askAll, shop } = await startInbox()
  const { approvals } = await askAll(['1', '2'])
  const { page } = await openPage(browser(), link)
  let sent = 0
  page.on('request', (request) => void (sent += request.method() === 'POST' ? 1 : 0))
  await page.getByRole('region', { name: 'Question about shop.refund' }).getByText('"order": "1"').waitFor()
  const { change } = await enter(await linkOf())
  const [first] = approvals
  await change(`/approvals/${first?.id}`, { decision: 'deny', digest: first?.digest })
  await page.getByRole('heading', { name: 'waits no more' }).waitFor()
  await page.getByText(`${me} answered it: denied.`).waitFor()
  await page.keyboard.press('a')
  await page.keyboard.press('j')
  await page.getByRole('region', { name: 'Question about shop.refund' }).getByText('"order": "2"').waitFor()
  expect(shop.runtime.approvals.list().map(({ state }) => state)).toEqual(['waiting'])
  await page.keyboard.press('a')
  await page.getByText('Allowed: shop.refund').waitFor()
  expect(sent).toBe(1)
})

test('the time that is left counts down in a place that is as wide all the time', async () => {
  const { link, askAll } = await startInbox()
  const { approvals } = await askAll(['1'])
  const { page } = await openPage(browser(), link)
  await page.clock.install()
  await page.reload()
  const item = page.getByRole('group', { name: 'What waits' }).getByRole('listitem')
  const left = item.getByRole('timer')
  await left.waitFor()
  const measure = async () => [(await left.boundingBox())?.width, (await item.boundingBox())?.height]
  const before = await measure()
  expect(await left.textContent()).toMatch(/^23 h 5\d min$/)
  const { expiresAt = 0 } = approvals[0] ?? {}
  for (const [leftMs, text] of [
    // By the clock of the server, which is this one but for the time that it takes to say so.
    [3_610_000, /^1 h 00 min$/],
    [610_000, /^10:\d\d$/],
    [70_000, /^1:\d\d$/],
  ] as const) {
    await page.clock.setFixedTime(expiresAt - leftMs)
    await page.clock.runFor(1_000)
    await expect.poll(() => left.textContent()).toMatch(text)
    expect(await measure()).toEqual(before)
  }
})

test('notices and the sound are off until they are turned on, say no more than who asks for what, and are remembered', async () => {
  const { link, askAll, origin } = await startInbox()
  const { page, faults } = await openPage(browser(), link)
  await page.context().grantPermissions(['notifications'], { origin })
  await page.addInitScript(tellNotices)
  const told = () => page.evaluate<(string | [string, string])[]>('[...told]')
  const notices = async () => (await told()).filter((each) => typeof each !== 'string')
  /** How many questions were told, several at once or each by itself. */
  const countTold = async () =>
    (await notices()).reduce((sum, [, body]) => sum + 1 + Number(/and (\d+) more/.exec(body)?.[1] ?? 0), 0)
  await page.goto(`${origin}/live`)
  await page.getByRole('heading', { name: 'Live' }).waitFor()
  await askAll(['1'])
  const inbox = page.getByRole('link', { name: /^Inbox ?\d$/ })
  await inbox.click()
  const notify = page.getByRole('button', { name: 'Notify me' })
  const sound = page.getByRole('button', { name: 'Play a sound' })
  const turn = async (isOn: boolean) => {
    for (const each of [notify, sound]) {
      await each.click()
      await expect.poll(() => each.getAttribute('aria-pressed')).toBe(String(isOn))
    }
  }
  // Nothing is told of what comes while the inbox is still there.
  const goLive = async () => {
    await page.getByRole('link', { name: 'Live', exact: true }).click()
    await page.getByRole('heading', { name: 'Live' }).waitFor()
  }
  await turn(true)
  await expect.poll(told).toEqual(['tone', 'tone'])
  await page.reload()
  await page.getByRole('button', { name: 'Notify me', pressed: true }).waitFor()
  await page.getByRole('button', { name: 'Play a sound', pressed: true }).waitFor()
  await goLive()
  await askAll(['2', '3'])
  await expect.poll(countTold).toBe(2)
  expect((await notices()).at(-1)).toEqual([
    '3 waiting: Handrail',
    expect.stringMatching(/^shop\.refund for ann(, and 1 more)?$/),
  ])
  expect(await told()).toContain('tone')
  await inbox.click()
  await turn(false)
  await goLive()
  await askAll(['4'])
  await page.getByRole('link', { name: /^Inbox ?4$/ }).click()
  await turn(true)
  await goLive()
  await askAll(['5'])
  await expect.poll(countTold).toBe(3)
  expect((await notices()).at(-1)).toEqual(['5 waiting: Handrail', 'shop.refund for ann'])
  expect(faults).toEqual([])
})

for (const [name, options] of firstOf([
  [
    'in dark colours on a screen 320 pixels wide',
    { viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
  ],
  ['in light colours on a wide screen', { viewport: { width: 1280, height: 800 }, colorScheme: 'light' }],
] as const))
  test(`a card names who asks and below whom, script in every field stays text, and axe finds nothing wrong ${name}`, async () => {
    const { link, askAll, shop } = await startInbox()
    const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
    const parent = shop.runtime.session({
      actor: 'ann',
      agent: { agentId: `lead ${evil}`, runId: 'run_1' },
    })
    const agent = {
      agentId: `helper ${evil}`,
      runId: `run_2 ${evil}`,
      parentAgentId: `lead ${evil}`,
      parentRunId: 'run_1',
    }
    await askAll([evil, `${evil}2`, 'a-very-long-order-number-'.repeat(20)], {
      parent,
      agent,
      role: 'orchestrator',
    })
    await askAll(['7'], { actor: 'bea', agent: { agentId: evil, runId: evil } })
    const { page, faults } = await openPage(browser(), link, options)
    const card = page.getByRole('region', { name: 'Question about shop.refund' })
    await card.getByText(`agent lead ${evil} in ${parent.id}`).waitFor()
    const fields = await card.getByRole('definition').allTextContents()
    expect(fields).toEqual(
      expect.arrayContaining([
        'ann of local, as orchestrator',
        `helper ${evil}, run run_2 ${evil}`,
        `agent lead ${evil}, run run_1`,
        `main: agent lead ${evil} in ${parent.id}`,
      ]),
    )
    await page.getByText('Just before in this session').click()
    const check = async () => {
      expect(await findFaults(page)).toEqual([])
      const [wide, seen] = (await page.evaluate(
        '[document.body.scrollWidth, document.documentElement.clientWidth]',
      )) as number[]
      expect(wide).toBe(seen)
      expect(await page.locator('img, main script').count()).toBe(0)
    }
    await check()
    // What is pressed is seen, also below the list of a narrow screen.
    const items = page.getByRole('group', { name: 'What waits' }).getByRole('button')
    for (const item of [items.last(), items.first()]) {
      await item.click()
      await expect.poll(async () => (await card.boundingBox())?.y).toBeLessThan(300)
    }
    await check()
    await page.keyboard.press('X')
    await batchOf(page).getByRole('listitem').nth(2).waitFor()
    await check()
    await page.keyboard.press('a')
    await page.getByText('Allowed 3 of 3').waitFor()
    await check()
    await page
      .getByRole('region', { name: 'Question about shop.refund' })
      .getByText(`${evil}, run ${evil}`)
      .waitFor()
    await expect.poll(() => page.title()).toBe('(1) Handrail')
    expect(faults).toEqual([])
  })
