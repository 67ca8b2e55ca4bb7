import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeTools } from 'handrail'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { keepBrowser, openPage, startConsole } from '../support/console.ts'
import { listPages, readPage } from '../support/markdown.ts'
import { openShop, refundOf } from '../support/shop.ts'

const images = fileURLToPath(new URL('../../docs/guides/images', import.meta.url))
const writes = process.env['UPDATE_SCREENSHOTS'] === '1'
const most = 150 * 1024
const browser = keepBrowser()

/** Names of the images that pages show. */
const shown = (): string[] =>
  listPages().flatMap((page) =>
    [...readPage(page).matchAll(/!\[[^\]]+\]\((?:guides\/)?images\/([^)]+)\)/g)].map(([, name = '']) => name),
  )

/** Takes a picture as the guide has it, and keeps it if that is asked for. */
async function take(page: Page, name: string): Promise<string> {
  const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' })
  expect(picture.length).toBeLessThan(most)
  if (writes) writeFileSync(join(images, name), picture)
  return name
}

test('the walk of the guide of the console makes each of its pictures, from a real gateway', async () => {
  const policy = {
    rules: [{ tools: ['code.run_command'], effect: 'deny', reason: 'Commands are over.' } as const],
  }
  const { link, place, origin } = await startConsole({ 'policy.json': policy })
  const size = { width: 1100, height: 720 }
  const { page, faults } = await openPage(browser(), link, { viewport: size, colorScheme: 'light' })
  const code = await openShop(place.store, { tools: [codeTools()], policy })
  const session = code.runtime.session({ actor: 'ann', agent: { agentId: 'writer', runId: 'run-1' } })
  const content = `export function greet(name: string): string {\n  return 'Hello, ' + name\n}\n`
  const step = await session.step([
    { id: 'w', tool: 'code.write_file', input: { path: 'greet.ts', content } },
  ])
  const taken: string[] = []

  await page.locator('.code-keyword', { hasText: 'export' }).waitFor()
  taken.push(await take(page, 'console-inbox.png'))
  await page.getByRole('button', { name: 'Allow once' }).click()
  await page.getByText('Allowed: code.write_file').waitFor()
  expect((await session.resume(step)).results).toMatchObject([{ ok: true }])

  const shop = await openShop(place.store, { policy })
  await shop.runtime.session({ actor: 'bob' }).step(['17', '18', '19'].map((order) => refundOf(order, order)))
  await expect.poll(() => page.locator('.row').count()).toBe(3)
  await page.getByRole('button', { name: /^Select the 3 alike/ }).click()
  await page.getByRole('heading', { name: '3 selected' }).waitFor()
  taken.push(await take(page, 'console-batch.png'))

  await session.call('code.run_command', { argv: ['npm', 'publish'] })
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await page.getByRole('link', { name: 'code.run_command' }).click()
  await page.getByText(/deny by .*rule/).waitFor()
  taken.push(await take(page, 'console-denied.png'))

  await page.goto(`${origin}/tools`)
  await page.getByRole('link', { name: 'code.write_file', exact: true }).click()
  const form = page.getByRole('form', { name: 'Try code.write_file' })
  await form.getByLabel('path').fill('notes.md')
  await form.getByLabel('content').fill('# Notes\n')
  await form.getByRole('button', { name: 'Look' }).click()
  await form.getByRole('heading', { name: 'A person would be asked first.' }).waitFor()
  await form.locator('.preview').scrollIntoViewIfNeeded()
  taken.push(await take(page, 'console-try.png'))
  expect(faults).toEqual([])
  expect(taken.toSorted()).toEqual([...new Set(shown())].toSorted())
})

test('every picture that a page shows is kept, small, and there is no other one', () => {
  expect(readdirSync(images).toSorted()).toEqual([...new Set(shown())].toSorted())
  for (const name of shown()) {
    const path = join(images, name)
    expect(readFileSync(path).subarray(1, 4).toString()).toBe('PNG')
    expect(statSync(path).size).toBeLessThan(most)
  }
})
