import { expect, test } from 'vitest'
import { call, handrail } from '../support/command-line.ts'
import { askApi, caller, enter, keepBrowser, openPage, startConsole } from '../support/console.ts'
import { findFaults } from '../support/find-faults.ts'
import { fixtureTool, makeFixtureServer } from '../support/upstreams.ts'

const browser = keepBrowser()

const session = 'a-session-of-mine'

test('a tool is tried by a form made of its schema: faults stand at their fields, a yes lets it run, and the call is recorded as the person', async () => {
  const { link, place, origin } = await startConsole()
  const { page, faults } = await openPage(browser(), link, {
    viewport: { width: 320, height: 640 },
    colorScheme: 'dark',
  })
  await page.goto(`${origin}/tools/code.write_file`)
  const form = page.getByRole('form', { name: 'Try code.write_file' })
  await form.getByLabel('path').fill('tried.txt')
  await form.getByRole('button', { name: 'Look' }).click()
  await form.locator('.field', { hasText: 'content' }).getByRole('alert').waitFor()
  expect(await findFaults(page)).toEqual([])
  await form.getByLabel('content').fill('<b>tried</b>\n')
  await form.getByRole('button', { name: 'Look' }).click()
  await form.getByRole('heading', { name: 'A person would be asked first.' }).waitFor()
  await form.locator('.added', { hasText: '<b>tried</b>' }).waitFor()
  expect((await call(place, 'code.read_file', { path: 'tried.txt' })).code).not.toBe(0)
  await form.getByRole('button', { name: 'Run' }).click()
  await form.getByRole('button', { name: 'Allow once' }).click()
  await form.getByRole('heading', { name: 'ok', exact: true }).waitFor()
  expect(await findFaults(page)).toEqual([])
  expect((await call(place, 'code.read_file', { path: 'tried.txt' })).stdout).toContain('<b>tried</b>')
  await form.getByRole('link', { name: /^The call/ }).click()
  await page.getByRole('heading', { name: 'code.write_file ok' }).waitFor()
  expect(faults).toEqual([])
})

test('a form has fields for texts, figures, choices, lists and objects, and JSON for what it cannot show', async () => {
  const inputSchema = {
    type: 'object' as const,
    properties: {
      name: { type: 'string', description: '<img src=x onerror="document.title=1">' },
      count: { type: 'integer', minimum: 1 },
      loud: { type: 'boolean' },
      size: { type: 'string', enum: ['small', 'large'] },
      tags: { type: 'array', items: { type: 'string' } },
      at: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
      either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    },
    required: ['name'],
  }
  const server = makeFixtureServer([{ ...fixtureTool('echo'), inputSchema }])
  const { link, origin, place } = await startConsole({ 'mcp.json': { mcpServers: { it: server.file } } })
  const { api } = await enter(link)
  await expect.poll(async () => (await api('/tools/mcp.it.echo')).status).toBe(200)
  const { stdout } = await handrail(place, ['console', '--port', new URL(origin).port])
  const { page } = await openPage(browser(), stdout.trim())
  await page.goto(`${origin}/tools/mcp.it.echo`)
  const form = page.getByRole('form', { name: 'Try mcp.it.echo' })
  await form.getByLabel('name').fill('ann')
  await form.getByLabel('count').fill('none')
  await form.getByLabel('loud').selectOption('true')
  await form.getByLabel('size').selectOption('large')
  for (const tag of ['a', 'b', 'c']) {
    await form.getByRole('button', { name: 'Add to tags' }).click()
    await form.getByLabel(/^tags/).last().fill(tag)
  }
  await form.getByRole('button', { name: 'Remove tags 2' }).click()
  await form.getByLabel('x required').fill('1.5')
  await form.getByLabel('either').fill('[7')
  await form.getByText('This is no JSON').waitFor()
  expect(await form.getByRole('button', { name: 'Run' }).isDisabled()).toBe(true)
  await form.getByLabel('either').fill('7')
  await form.getByRole('button', { name: 'Look' }).click()
  await form.locator('.field', { hasText: 'count' }).getByRole('alert').waitFor()
  expect(await findFaults(page)).toEqual([])
  await form.getByLabel('As JSON').check()
  const written = JSON.parse(await form.getByLabel('Input as JSON').inputValue())
  expect(written).toEqual({
    name: 'ann',
    count: 'none',
    loud: true,
    size: 'large',
    tags: ['a', 'c'],
    at: { x: 1.5 },
    either: 7,
  })
  await form.getByLabel('Input as JSON').fill(JSON.stringify({ ...written, count: 2 }))
  await form.getByRole('button', { name: 'Look' }).click()
  await form.getByRole('heading', { name: 'A person would be asked first.' }).waitFor()
  expect([await page.locator('main img').count(), await page.title()]).toEqual([0, 'Handrail'])
})

test('who tries a tool is a caller like any other: rules deny, a no is told, the answer counts once, and approvers may not', async () => {
  const { link, origin, place } = await startConsole({
    'policy.json': {
      rules: [{ tools: ['code.run_command'], effect: 'deny', reason: 'No commands.' }],
      tenants: { acme: {} },
    },
    'gateway.json': { tokens: [caller('eve', { approver: true, tenant: 'acme' })] },
  })
  const { change, api } = await enter(link)
  const run = (tool: string, input: object) => change(`/tools/${tool}/call`, { input, session })
  const denied = await run('code.run_command', { argv: ['true'] })
  expect(denied.body.result).toMatchObject({ outcome: 'denied', error: { reason: 'rule_denied' } })
  expect(denied.body.result.text).toContain('No commands.')

  const write = { path: 'a.txt', content: 'once' }
  const { waiting } = (await run('code.write_file', write)).body
  expect(waiting.state).toBe('waiting')
  await change(`/approvals/${waiting.id}`, { decision: 'allow_once', digest: waiting.digest })
  expect((await run('code.write_file', { ...write, content: 'else' })).body.waiting.state).toBe('waiting')
  expect((await run('code.write_file', write)).body.result).toMatchObject({ ok: true })
  const again = (await run('code.write_file', { path: 'b.txt', content: 'no' })).body.waiting
  await change(`/approvals/${again.id}`, { decision: 'deny', digest: again.digest, reason: 'enough' })
  expect((await run('code.write_file', { path: 'b.txt', content: 'no' })).body.result.text).toContain(
    'enough',
  )

  await change('/tools/code.write_file/state', { state: 'paused' })
  expect((await run('code.write_file', write)).body.result.error.reason).toBe('paused')
  const { body } = await api('/tools/code.write_file')
  expect(body.usage).toMatchObject({ ok: 1, denied: 2 })
  expect(body.history[0]).toMatchObject({ event: 'tool_paused' })
  for (const bad of [{ input: 1, session }, { input: {} }, { input: {}, session: '../x' }])
    expect((await change('/tools/code.read_file/call', bad)).status).toBe(400)
  const eve = { headers: { authorization: 'Bearer hr_eve', 'content-type': 'application/json' } }
  const init = { ...eve, method: 'POST', body: JSON.stringify({ input: {}, session }) }
  expect((await askApi(origin, '/tools/code.read_file/call', init)).status).toBe(403)
  expect((await handrail(place, ['evidence', 'verify'])).code).toBe(0)
})

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
  expect(await page.title()).toBe('Handrail')
})
