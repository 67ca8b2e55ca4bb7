import { expect, test } from 'vitest'
import { handrail } from '../support/command-line.ts'
import { enter, keepBrowser, openPage, startConsole } from '../support/console.ts'
import { fixtureTool, makeFixtureServer } from '../support/upstreams.ts'

const browser = keepBrowser()

test('a definition that changed at its source is shown as a diff, and what happened to it after it was approved', async () => {
  const server = makeFixtureServer([fixtureTool('echo')])
  const { link, origin, place } = await startConsole({ 'mcp.json': { mcpServers: { it: server.file } } })
  const { api } = await enter(link)
  await expect.poll(async () => (await api('/tools/mcp.it.echo')).status).toBe(200)
  server.list([{ ...fixtureTool('echo'), description: '<script>document.title=1</script>' }])
  await handrail(place, ['mcp', 'status'])
  const { stdout } = await handrail(place, ['console', '--port', new URL(origin).port])
  const { page } = await openPage(browser(), stdout.trim())
  await expect
    .poll(async () => {
      await page.goto(`${origin}/tools/mcp.it.echo`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      return page.locator('.added', { hasText: '<script>' }).count()
    })
    .toBe(1)
  await page.getByRole('button', { name: 'Approve this definition' }).click()
  await page.getByText('approved the changed definition').first().waitFor()
  await page.getByText('It was not called yet.').waitFor()
  expect(await page.title()).toBe('Handrail')
})
