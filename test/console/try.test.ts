import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { enter, keepBrowser, openPage, startConsole } from '../support/console.ts'
import { findFaults } from '../support/find-faults.ts'
import { handrail } from '../support/command-line.ts'

const browser = keepBrowser()

test('a person tries a tool: a faulty field is named, a look changes nothing, and a call goes the road of all', async () => {
  const { link, origin, place } = await startConsole()
  writeFileSync(join(place.project, 'note.txt'), '<script>alert(1)</script> and text\n')
  const { api, change } = await enter(link)
  const { stdout } = await handrail(place, ['console', '--port', new URL(origin).port])
  const { page, faults } = await openPage(browser(), stdout.trim())

  await page.goto(`${origin}/tools/code.read_file`)
  const form = page.getByRole('region', { name: 'Try it' })
  const look = form.getByRole('button', { name: 'What would happen' })
  await look.click()
  const path = form.getByRole('textbox', { name: 'path', exact: true })
  await expect.poll(() => path.getAttribute('aria-invalid')).toBe('true')
  await path.fill('note.txt')
  await look.press('Enter')
  await form.getByRole('heading', { name: /: allow$/ }).waitFor()
  expect(await findFaults(page)).toEqual([])
  await form.getByRole('button', { name: 'Run it' }).click()
  await form.getByText('<script>alert(1)</script> and text').waitFor()

  await page.goto(`${origin}/tools/code.write_file`)
  await form.getByLabel('Write it as JSON').check()
  await form.getByLabel('Input as JSON').fill('{"path":"made.txt","content":"made"}')
  await look.click()
  await form.getByRole('heading', { name: /: ask$/ }).waitFor()
  expect(existsSync(join(place.project, 'made.txt'))).toBe(false)
  await form.getByRole('button', { name: 'Run it' }).click()
  await form.getByRole('link', { name: 'answer it in the inbox' }).waitFor()
  const list = async () => (await api('/approvals')).body.approvals
  await expect.poll(list).toMatchObject([{ request: { tool: 'code.write_file' } }])
  const [approval] = await list()
  const answer = { decision: 'allow_once', digest: approval.digest }
  expect((await change(`/approvals/${approval.id}`, answer)).status).toBe(200)
  await form.getByText('ok', { exact: true }).waitFor()
  expect(readFileSync(join(place.project, 'made.txt'), 'utf8')).toBe('made')

  await page.setViewportSize({ width: 320, height: 640 })
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await findFaults(page)).toEqual([])
  expect(await page.evaluate('document.body.scrollWidth')).toBeLessThanOrEqual(320)
  // A call that waits is not there yet.
  expect(faults.filter((fault) => !fault.includes('404'))).toEqual([])
  expect(await form.getByText('There is no such call').count()).toBe(0)
})

test('what is denied, paused or misspelt is not run by trying it, and says so', async () => {
  const { link, shop } = await startConsole({
    'policy.json': { rules: [{ id: 'no-notes', effect: 'deny', tools: ['code.write_file'] }] },
  })
  const { change } = await enter(link)
  const written = { input: { path: 'made.txt', content: 'made' } }
  expect((await change('/tools/code.write_file/preflight', written)).body).toMatchObject({ effect: 'deny' })
  expect((await change('/tools/code.write_file/call', written)).body).toMatchObject({
    state: 'ended',
    result: { outcome: 'denied', error: { reason: 'rule_denied' } },
  })
  await shop.runtime.stops.pause({ tools: 'code.read_*', by: 'ann', why: 'for now' })
  expect((await change('/tools/code.read_file/call', { input: { path: 'a' } })).body).toMatchObject({
    state: 'ended',
    result: { outcome: 'denied', error: { reason: 'calls_paused' } },
  })
  expect((await change('/tools/code.no_such/call', { input: {} })).status).toBe(404)
  expect((await change('/tools/code.write_file/call', { input: 7 })).status).toBe(400)
})
