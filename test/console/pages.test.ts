import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openOffice } from '../support/approved.ts'
import { keepOpen } from '../support/at-end.ts'
import { keepBrowser, openPage, startConsole } from '../support/console.ts'
import { findFaults } from '../support/find-faults.ts'
import { call, handrail, makePlace } from '../support/command-line.ts'
import { firstOf } from '../support/rounds.ts'
import { makeFixtureServer } from '../support/upstreams.ts'
import { startServer } from '../support/start-command.ts'

const browser = keepBrowser()

test('a person allows a write with one key and denies another with a reason, and its program goes on at once', async () => {
  const { link, ask, shop } = await startConsole()
  const { page, faults } = await openPage(browser(), link)
  await page.getByText('Nothing waits for you.').waitFor()
  const first = await ask('1')
  await page.getByRole('heading', { name: first.approval.request.title }).waitFor()
  await expect.poll(() => page.title()).toBe('(1) Handrail')
  await page.keyboard.press('a')
  await page.getByText('Allowed: shop.refund').waitFor()
  expect((await first.session.resume(first.step)).results).toMatchObject([{ ok: true }])
  const second = await ask('2')
  await page.getByRole('heading', { name: second.approval.request.title }).waitFor()
  await page.keyboard.press('d')
  await page.keyboard.type('not this month')
  await page.keyboard.press('Enter')
  await page.getByText('Denied: shop.refund').waitFor()
  const { results } = await second.session.resume(second.step)
  expect(results).toMatchObject([{ ok: false, error: { reason: 'denied' } }])
  expect(JSON.stringify(results)).toContain('not this month')
  expect([shop.done, faults]).toEqual([['1'], []])
})

test('of two people who decide at once one is told that the other was faster', async () => {
  const { link, ask, place, origin } = await startConsole()
  const { stdout } = await handrail(place, ['console', '--port', new URL(origin).port])
  const [one, other] = [await openPage(browser(), link), await openPage(browser(), stdout.trim())]
  const { approval } = await ask('1')
  for (const { page } of [one, other])
    await page.getByRole('heading', { name: approval.request.title }).waitFor()
  await one.page.getByRole('button', { name: 'Allow once' }).click()
  await one.page.getByText('Allowed: shop.refund').waitFor()
  const send = async (path: string, digest: string): Promise<unknown> => {
    const { csrf } = (await (await fetch('/api/me')).json()) as { csrf: string }
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-csrf-token': csrf },
      body: JSON.stringify({ decision: 'deny', digest }),
    })
    return [response.status, ((await response.json()) as { code: string }).code]
  }
  const path = `/api/approvals/${approval.id}`
  const answered = await other.page.evaluate(`(${send.toString()})('${path}', '${approval.digest}')`)
  expect(answered).toEqual([409, 'approval_over'])
  await other.page.getByText('Nothing waits for you.').waitFor()
})

test('what a model or server says is text, whatever it looks like, and no page asks anybody else for anything', async () => {
  const evil = '<img src="http://evil.example/x" onerror="document.title=1"><script>document.title=2</script>'
  const { link, ask, origin } = await startConsole()
  const { session } = await ask(evil)
  await session.call('shop.look', { order: evil })
  await session.call(evil, {})
  const { page, requests, faults } = await openPage(browser(), link)
  await page.getByText('onerror').first().waitFor()
  for (const name of ['Live', 'Tools', 'Runs', 'Servers', 'Policy', 'Budgets', 'Evidence', 'Overview']) {
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('heading', { name, exact: true }).waitFor()
  }
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await page.getByRole('link', { name: 'shop.look' }).first().click()
  await page.getByText('onerror').first().waitFor()
  expect(await page.locator('img, main script').count()).toBe(0)
  expect(await page.title()).toMatch(/Handrail$/)
  expect(requests.filter((url) => !url.startsWith(origin))).toEqual([])
  expect(faults).toEqual([])
})

test('calls show up as they happen, over a restart of the server too, none is told twice or left out, and what a person writes stays', async () => {
  const { link, server, shop, origin, place, ask } = await startConsole()
  const { page } = await openPage(browser(), link)
  await ask('waits')
  const { stdout } = await handrail(place, ['console', '--port', new URL(origin).port])
  const { page: inbox } = await openPage(browser(), stdout.trim())
  const reason = inbox.getByRole('textbox', { name: 'Reason' })
  await reason.waitFor()
  await inbox.keyboard.press('d')
  await inbox.keyboard.type('not')
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  const session = shop.runtime.session({ actor: 'ann' })
  await session.call('shop.look', { order: '1' })
  await page.getByText('1 of 1 calls').waitFor()
  server.stop()
  await server.ended
  for (const each of [page, inbox]) await each.getByText('reconnecting…').waitFor()
  await inbox.keyboard.type(' today')
  await session.call('shop.look', { order: '2' })
  await startServer(place, ['--port', new URL(origin).port])
  await page.getByText('2 of 2 calls').waitFor()
  await session.call('shop.look', { order: '3' })
  await page.getByText('3 of 3 calls').waitFor()
  await expect.poll(() => page.locator('tbody .outcome.ok').count()).toBe(3)
  await page.getByLabel('Filter').fill('no such tool')
  await page.getByText('0 of 3 calls').waitFor()
  await inbox.getByText('reconnecting…').waitFor({ state: 'hidden' })
  await inbox.keyboard.type(', and not tomorrow')
  expect(await reason.inputValue()).toBe('not today, and not tomorrow')
})

/** A gateway with two servers and a rule that denies, beside a program that works under it. */
const newcomer = keepOpen(async () => {
  const rules = [{ tools: ['code.run_command'], effect: 'deny', reason: 'Nothing is removed here.' }] as const
  const server = makeFixtureServer().file
  const own = { 'policy.json': { rules }, 'mcp.json': { mcpServers: { mouse: server, keyboard: server } } }
  const started = await startConsole(own, makePlace({}, own))
  return { ...started, office: await openOffice(started.place, { policy: { rules } }) }
})

/** Presses what has this role and name, and counts that: with the mouse, or with Tab and Enter alone. */
function handOf(page: Page, hand: 'mouse' | 'keyboard') {
  let presses = 0
  return {
    async press(role: 'button' | 'link', name: string | RegExp) {
      const target = page.getByRole(role, { name, exact: true }).first()
      presses++
      if (hand === 'mouse') return target.click()
      await target.waitFor()
      // Tab passes what cannot be pressed yet.
      await expect.poll(() => target.isEnabled()).toBe(true)
      const reached = target.and(page.locator(':focus'))
      for (let tabs = 0; tabs < 60 && (await reached.count()) === 0; tabs++) await page.keyboard.press('Tab')
      expect([String(name), await reached.count()]).toEqual([String(name), 1])
      return page.keyboard.press('Enter')
    },
    /** Since it was asked last. */
    presses: () => presses - (presses = 0),
  }
}

for (const hand of ['mouse', 'keyboard'] as const)
  test(`who never saw the console answers a call, finds why another was denied, pauses a server and makes a rule, each in four presses of the ${hand} at most`, async () => {
    const { place, origin, office } = newcomer()
    const file = `${hand}.md`
    for (let count = 0; count < 2; count++) await office.write(file)
    const denied = await office.command('rm', file)
    expect(denied.error?.reason).toBe('rule_denied')
    const desk = office.runtime.session({ actor: 'ann' })
    const step = await desk.step([
      { id: hand, tool: 'code.write_file', input: { path: `asked-${hand}.md`, content: hand } },
    ])
    const { stdout } = await handrail(place, ['console', '--port', new URL(origin).port])
    const { page, faults } = await openPage(browser(), stdout.trim())
    const person = handOf(page, hand)

    await person.press('button', /^Allow once/)
    await page.getByText('Allowed: code.write_file').waitFor()
    expect(await desk.resume(step)).toMatchObject({ results: [{ ok: true }] })
    expect(person.presses()).toBeLessThanOrEqual(4)

    await person.press('link', 'Live')
    await person.press('link', 'code.run_command')
    await page.getByRole('heading', { name: 'code.run_command denied' }).waitFor()
    await page.getByText('Nothing is removed here.').first().waitFor()
    expect(person.presses()).toBeLessThanOrEqual(4)

    await person.press('link', 'Servers')
    await person.press('button', `Stop ${hand}…`)
    await person.press('button', `Stop ${hand} now`)
    await page.getByText(`Paused: the server ${hand}`).waitFor()
    expect(person.presses()).toBeLessThanOrEqual(4)

    await person.press('link', 'Policy')
    await person.press('button', /^Try the rule/)
    await person.press('button', 'Save')
    await page.getByText(/^Version \d is saved/).waitFor()
    expect(person.presses()).toBeLessThanOrEqual(4)
    expect(readFileSync(join(place.home, 'policy.json'), 'utf8')).toContain(`${place.project}/${file}`)
    expect(faults).toEqual([])
  })

test('an operator pauses a tool in three clicks, and it is not called in any process until it is enabled', async () => {
  const { link, shop, place } = await startConsole()
  const { page, faults } = await openPage(browser(), link)
  await page.getByRole('link', { name: 'Tools', exact: true }).click()
  await page.getByRole('link', { name: 'code.read_file', exact: true }).click()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Enable' }).waitFor()
  const denied = await call(place, 'code.read_file', { path: 'a.txt' })
  expect([denied.code, denied.stderr]).toEqual([3, expect.stringContaining('paused')])
  const notes = [...shop.runtime.store.records({ kind: 'note', newestFirst: true })].map(({ text }) =>
    JSON.parse(text),
  )
  expect(notes[0]).toMatchObject({ event: 'tool_paused', tool: 'code.read_file', actor: userInfo().username })
  await page.getByRole('button', { name: 'Enable' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  expect((await call(place, 'code.read_file', { path: 'a.txt' })).stderr).not.toContain('paused')
  expect(faults).toEqual([])
})

for (const [name, options] of firstOf([
  [
    'in dark colours on a screen 320 pixels wide',
    { viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
  ],
  ['in light colours on a wide screen', { viewport: { width: 1280, height: 800 }, colorScheme: 'light' }],
] as const))
  test(`axe finds nothing wrong with any page ${name}, none is wider than the screen, and nothing jumps when data comes`, async () => {
    const { link, ask, shop, origin } = await startConsole({
      'mcp.json': { mcpServers: { it: makeFixtureServer().file } },
      'policy.json': { budgets: [{ id: 'all', unit: 'calls', limit: 100 }] },
    })
    const { session, approval } = await ask('1')
    await shop.runtime.consents.give({ tool: 'shop.refund', givenBy: 'ann' })
    const { callId } = await session.call('shop.look', { order: 'a-very-long-order-number-'.repeat(20) })
    const { page, faults } = await openPage(browser(), link, options)
    await page.getByRole('heading', { name: approval.request.title }).waitFor()
    // The browser itself measures by how much what stood there was pushed.
    await page.addInitScript(
      `globalThis.pushed = 0
       new PerformanceObserver((list) => {
         for (const { value } of list.getEntries()) pushed += value
       }).observe({ type: 'layout-shift', buffered: true })`,
    )
    const check = async (path: string) => {
      expect([path, await findFaults(page)]).toEqual([path, []])
      const [wide, seen] = (await page.evaluate(
        '[document.body.scrollWidth, document.documentElement.clientWidth]',
      )) as number[]
      expect([path, wide]).toEqual([path, seen])
      // Of the other colours, whether they can be read.
      await page.emulateMedia({ colorScheme: options.colorScheme === 'dark' ? 'light' : 'dark' })
      expect([path, await findFaults(page, ['color-contrast'])]).toEqual([path, []])
      await page.emulateMedia({ colorScheme: options.colorScheme })
    }
    await page.getByText('This actor has not called this tool before.').waitFor()
    await check('/inbox')
    // What each page shows, and what comes last on it.
    for (const [path, heading, ...last] of [
      ['/live', 'Live', /^\d of \d calls/, /^Sessions of the last hour: 1/],
      [`/calls/${callId}`, 'shop.look ok'],
      ['/runs', 'Runs', 'No agent ran yet.'],
      ['/tools', 'Tools', /^\d+ of \d+ tools$/],
      ['/tools/code.read_file', 'code.read_file'],
      ['/servers', 'Servers', 'Remove it…'],
      ['/policy', 'Policy', 'found in the file'],
      ['/budgets', 'Budgets', '100 calls', 'holds · by ann'],
      ['/evidence', 'Evidence', 'visit began'],
      ['/overview', 'Overview', 'The store takes records.', 'Median wait for an answer'],
      ['/access', 'Access'],
    ] as const) {
      await page.goto(`${origin}${path}`)
      await page.getByRole('heading', { name: heading, exact: true }).waitFor()
      for (const text of last) await page.getByText(text).first().waitFor()
      await check(path)
      expect([path, Number(await page.evaluate('pushed')) < 0.05]).toEqual([path, true])
    }
    await page.goto(`${origin}/nowhere-here/at/all`)
    expect(faults.filter((fault) => !fault.includes('404'))).toEqual([])
  })
