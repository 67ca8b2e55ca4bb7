import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { openOffice } from '../support/approved.ts'
import { call, handrail, makePlace, packageRoot } from '../support/command-line.ts'
import { keepBrowser, openPage, startConsole } from '../support/console.ts'
import { keepOpen } from '../support/at-end.ts'
import { listPages, readPage } from '../support/markdown.ts'
import { fixtureTool, makeFixtureServer } from '../support/upstreams.ts'

const guide = 'docs/guides/console.md'
const folder = join(packageRoot, 'docs/guides/images')
const mostBytes = 150_000
/** Set by `npm run screenshots`. */
const isUpdating = process.env['UPDATE_SCREENSHOTS'] === '1'

const policy = {
  rules: [
    {
      id: 'builds-run-elsewhere',
      tools: ['code.run_command'],
      effect: 'deny',
      reason: 'Builds run in the pipeline.',
    },
  ],
}

describe('the four ways of the guide to the console', () => {
  const browser = keepBrowser()
  const open = keepOpen(async () => {
    const files = {
      'policy.json': policy,
      'mcp.json': {
        mcpServers: { tickets: makeFixtureServer([fixtureTool('close'), fixtureTool('find')]).file },
      },
    }
    const started = await startConsole(files, makePlace({}, files))
    return { ...started, office: await openOffice(started.place, { policy: policy as object }) }
  })
  const pictured = new Set<string>()

  /** A person who just opened the console; their presses are counted by the page itself. */
  async function visit() {
    const { place, origin } = open()
    const { stdout } = await handrail(place, ['console', '--port', new URL(origin).port])
    const { page, faults } = await openPage(browser(), stdout.trim(), {
      viewport: { width: 1000, height: 640 },
      colorScheme: 'light',
    })
    await page.evaluate(
      'globalThis.presses = 0, addEventListener("click", ({ isTrusted }) => { if (isTrusted) presses++ }, true)',
    )
    return { page, faults, presses: () => page.evaluate('presses') }
  }

  /** Takes a picture of the guide, if it is asked for. */
  async function picture(page: Page, name: string): Promise<void> {
    pictured.add(name)
    if (!isUpdating) return
    const bytes = await page.screenshot({ animations: 'disabled' })
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, name), bytes)
  }

  test('a waiting write is approved in one press', async () => {
    const { session, step } = await open().ask('4711')
    const { page, faults, presses } = await visit()
    await page.getByRole('region', { name: 'Question about shop.refund' }).waitFor()
    await page.getByText('This actor has not called this tool before.').waitFor()
    await picture(page, 'console-inbox.png')
    await page.getByRole('button', { name: 'Allow once' }).click()
    await page.getByText('Allowed: shop.refund').waitFor()
    expect(await presses()).toBe(1)
    expect((await session.resume(step)).results).toMatchObject([{ ok: true }])
    expect(open().shop.done).toEqual(['4711'])
    expect(faults).toEqual([])
  })

  test('why a call was denied is found in two presses', async () => {
    expect(await open().office.command('make', 'release')).toMatchObject({ outcome: 'denied' })
    const { page, faults, presses } = await visit()
    await page.getByRole('link', { name: 'Live', exact: true }).click()
    await page.getByRole('link', { name: 'code.run_command' }).first().click()
    await page.getByRole('heading', { name: 'code.run_command denied' }).waitFor()
    await page.getByText('Builds run in the pipeline.').first().waitFor()
    await page
      .getByText(/builds-run-elsewhere/)
      .first()
      .waitFor()
    await picture(page, 'console-denied.png')
    expect(await presses()).toBe(2)
    expect(faults).toEqual([])
  })

  test('a server is paused in three presses', async () => {
    const { place } = open()
    const { page, faults, presses } = await visit()
    await page.getByRole('link', { name: 'Servers', exact: true }).click()
    const server = page.getByRole('region', { name: 'tickets', exact: true })
    await server.getByRole('button', { name: 'Stop tickets…' }).click()
    await picture(page, 'console-stop-server.png')
    await server.getByRole('button', { name: 'Stop tickets now' }).click()
    await page.getByRole('region', { name: 'Paused' }).getByText('tickets').first().waitFor()
    await picture(page, 'console-paused.png')
    expect(await presses()).toBe(3)
    const refused = await call(place, 'mcp.tickets.close', {})
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('paused')])
    await handrail(place, ['resume', '--all'])
    expect(faults).toEqual([])
  })

  test('a rule is made of a repeated approval in three presses', async () => {
    const { place, office } = open()
    for (let count = 0; count < 2; count++) await office.write('notes.md')
    const { page, faults, presses } = await visit()
    await page.getByRole('link', { name: 'Policy', exact: true }).click()
    const suggestion = page.getByRole('button', { name: 'Try the rule' })
    await suggestion.scrollIntoViewIfNeeded()
    await picture(page, 'console-suggestion.png')
    await suggestion.click()
    await page.getByRole('heading', { name: /would be decided otherwise/ }).waitFor()
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await save.scrollIntoViewIfNeeded()
    await picture(page, 'console-foresight.png')
    await save.click()
    await page.getByText('Version 2 is saved.').waitFor()
    expect(await presses()).toBe(3)
    const input = { path: 'notes.md', content: 'new', overwrite: true }
    expect(await call(place, 'code.write_file', input)).toMatchObject({ code: 0 })
    expect(faults).toEqual([])
  })

  test('the pictures of all pages are those that the ways take, and each is small', () => {
    const named = listPages().flatMap((page) =>
      [...readPage(page).matchAll(/!\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, path]) => `${page}: ${path}`),
    )
    expect(named.toSorted()).toEqual([...pictured].map((name) => `${guide}: images/${name}`).toSorted())
    expect(readdirSync(folder).toSorted()).toEqual([...pictured].toSorted())
    for (const name of pictured) {
      const path = join(folder, name)
      expect(readFileSync(path).subarray(1, 4).toString()).toBe('PNG')
      expect([name, statSync(path).size <= mostBytes]).toEqual([name, true])
    }
  })
})
