import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { askApi, caller, enter, keepBrowser, openPage, startConsole } from '../support/console.ts'
import { findFaults } from '../support/find-faults.ts'
import { makeNeedyServer } from '../support/needy-server.ts'

const browser = keepBrowser()
const secret = 'hush-hush-4711-secret'

test('a server that is pasted is tried with what its words need; its secret is never shown, and nothing is written before a person says so', async () => {
  const { link, place } = await startConsole()
  const { api, change } = await enter(link)
  const { command, args, code, data } = makeNeedyServer()
  const text = JSON.stringify({ mcpServers: { needy: { command, args, env: { SHOP_TOKEN: secret } } } })
  const tried = await change('/servers/try', { text })
  expect(tried.status, JSON.stringify(tried.body)).toBe(200)
  const [trial] = tried.body.trials
  expect(trial).toMatchObject({
    name: 'needy',
    works: true,
    tools: ['mcp.needy.look'],
    unset: ['SHOP_TOKEN'],
  })
  expect(trial.added).toEqual({ read: [code, data] })
  const entry = { command, args, env: { SHOP_TOKEN: '${SHOP_TOKEN}' }, read: [code, data] }
  expect(trial.entry).toEqual(entry)
  expect(JSON.stringify(tried.body)).not.toContain(secret)
  const file = join(place.home, 'mcp.json')
  expect(existsSync(file)).toBe(false)
  expect(existsSync(join(place.home, 'servers', 'needy'))).toBe(false)
  const changes = { needy: { entry: { ...entry, env: {} } } }
  const planned = await change('/servers/plan', { changes })
  expect(planned.body.diff).toContain('+    "needy": {')
  expect(existsSync(file)).toBe(false)
  const { digest } = planned.body
  writeFileSync(file, '{\n  // ours\n  "mcpServers": {}\n}\n')
  const late = await change('/servers/write', { changes, digest })
  expect([late.status, late.body.detail]).toEqual([409, expect.stringContaining('changed meanwhile')])
  const again = await change('/servers/plan', { changes })
  expect((await change('/servers/write', { changes, digest: again.body.digest })).status).toBe(200)
  expect(readFileSync(file, 'utf8')).toContain('// ours')
  const find = async () =>
    (await api('/servers')).body.servers.find(({ server }: { server: string }) => server === 'needy')
  await expect.poll(find).toMatchObject({ state: 'open', tools: ['mcp.needy.look'] })
  const notes = (await api('/notes')).body
  expect(JSON.stringify(notes)).toContain(`${userInfo().username} wrote the entry of the MCP server`)
  const bad = await change('/servers/plan', {
    changes: { x: { entry: { command: 'x', env: { API_KEY: secret } } } },
  })
  expect([bad.status, bad.body.detail]).toEqual([409, expect.stringContaining('A secret stands')])
  expect(JSON.stringify(bad.body)).not.toContain(secret)
})

test('what only its program asks for is said and never opened by itself: hosts, folders and variables', async () => {
  const { link } = await startConsole()
  const { change } = await enter(link)
  const { command, args, code, data } = makeNeedyServer()
  const needs = (env: object) => JSON.stringify({ command, args, read: [code, data], env })
  const attempt = async (body: object) =>
    (await change('/servers/try', { name: 'needy', ...body })).body.trials[0]
  const host = await attempt({ text: needs({ NEEDS_HOST: '1' }) })
  expect(host).toMatchObject({ works: false, hosts: ['api.shop.example'], added: {} })
  expect(host.entry.network).toBeUndefined()
  const opened = await attempt({ text: needs({ NEEDS_HOST: '1' }), hosts: ['api.shop.example'] })
  expect(opened.entry.network).toEqual(['api.shop.example'])
  const folder = await attempt({ text: needs({ NEEDS_FOLDER: '1' }) })
  expect(folder).toMatchObject({ works: false, folders: [data], added: {} })
  const written = await attempt({ text: needs({ NEEDS_FOLDER: '1' }), folders: [data] })
  expect(written).toMatchObject({ works: true, folders: [], entry: { write: [data] } })
  const variable = await attempt({ text: needs({ NEEDS_KEY: '1' }) })
  expect(variable).toMatchObject({ works: false, variables: ['SHOP_API_KEY'] })
  const given = await attempt({ text: needs({ NEEDS_KEY: '1' }), variables: ['SHOP_API_KEY'] })
  expect(given.entry.env).toEqual({ NEEDS_KEY: '1', SHOP_API_KEY: '${SHOP_API_KEY}' })
  expect(given.unset).toEqual(['SHOP_API_KEY'])
  const mistakes = [
    ['{"command": "x", "args": ["-y" "x"]}', 'What was pasted is not valid JSON at line 1, column 32'],
    ['{"mcpServers": {"a": {"comand": "x"}}}', 'Did you mean "command"?'],
    ['{"url": "https://x.example/${KEY}"}', 'Only values of "env" and "headers" may hold a variable.'],
    ['{"url": "https://x.example/${input:key}"}', 'Write what it stands for in its place.'],
  ] as const
  for (const [text, message] of mistakes)
    expect(JSON.stringify((await change('/servers/try', { text })).body), text).toContain(
      JSON.stringify(message).slice(1, -1),
    )
  for (const text of ['{', 'a | b', '{"mcpServers": {}}', '{"command": "x", "netwrok": true}'])
    expect((await change('/servers/try', { text })).body, text).not.toMatchObject({
      trials: [{ works: true }],
    })
})

test('only an operator of all tenants may try, look at and change the file of servers', async () => {
  const { origin, link } = await startConsole({
    'policy.json': { tenants: { acme: {} } },
    'gateway.json': { tokens: [caller('eve', { approver: true, tenant: 'acme' }), caller('ann')] },
  })
  const { change } = await enter(link)
  for (const id of ['eve', 'ann'])
    for (const [path, body] of [
      ['/servers/try', { text: 'echo' }],
      ['/servers/plan', { changes: { a: { remove: true } } }],
      ['/servers/write', { changes: { a: { remove: true } }, digest: '' }],
      ['/clients', undefined],
      ['/registry?search=x', undefined],
      ['/servers/a/entry', undefined],
    ] as const) {
      const headers = { authorization: `Bearer hr_${id}`, 'content-type': 'application/json' }
      const answer = await askApi(origin, path, {
        headers,
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      })
      expect(answer.status, `${id} ${path}`).toBe(403)
    }
  const forged = await change(
    '/servers/write',
    { changes: { a: { remove: true } }, digest: '' },
    { 'x-csrf-token': 'x' },
  )
  expect(forged.status).toBe(403)
})

/** A registry that speaks the API of the official one. */
async function serveRegistry(entry: object) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ servers: [entry], metadata: { count: 1 } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => new Promise((resolve) => server.close(resolve)))
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('a person adds a server by pasting, takes one over from Cursor, finds one in a registry, and removes one', async () => {
  const registry = await serveRegistry({
    server: {
      name: 'io.example/<b>shop</b>',
      description: 'Sells <i>things</i>.',
      version: '1.2.3',
      packages: [
        {
          registryType: 'npm',
          identifier: '@example/shop',
          version: '1.2.3',
          transport: { type: 'stdio' },
          environmentVariables: [
            { name: 'SHOP_KEY', description: 'Of the shop', isRequired: true, isSecret: true },
          ],
        },
      ],
    },
  })
  const { link, place } = await startConsole({ 'config.json': { mcpRegistry: registry.url } })
  const { command, args, code, data } = makeNeedyServer()
  mkdirSync(join(place.user, '.cursor'), { recursive: true })
  const theirs = { theirs: { command, args, read: [code, data], env: { SHOP_TOKEN: secret } } }
  writeFileSync(join(place.user, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: theirs }))
  const { page, faults } = await openPage(browser(), link)
  await page.getByRole('link', { name: 'Servers', exact: true }).click()
  await page.getByText('Add a server').click()
  await page.getByRole('textbox', { name: 'The JSON of any client' }).fill([command, ...args].join(' '))
  await page.getByRole('button', { name: 'Try it' }).click()
  const card = page.getByRole('region', { name: 'needy, as it was tried' })
  await card.getByText('works', { exact: true }).waitFor()
  await card.getByText('+    "needy": {').waitFor()
  // What was tried before is not written in the place of something else.
  await page.getByRole('textbox', { name: 'The JSON of any client' }).fill('{"mcpServers": {')
  await page.getByRole('button', { name: 'Try it' }).click()
  await page.getByText('What was pasted is not valid JSON').waitFor()
  expect(await card.count()).toBe(0)
  const own = { command, args, env: { SHOP_TOKEN: '${PATH}' } }
  await page.getByRole('textbox', { name: 'The JSON of any client' }).fill(JSON.stringify({ needy: own }))
  await page.getByRole('button', { name: 'Try it' }).click()
  await card.getByText('It was not tried').waitFor()
  expect(await card.getByRole('button', { name: 'Write it' }).count()).toBe(0)
  expect(await findFaults(page)).toEqual([])
  await card.getByLabel('PATH').check()
  await card.getByRole('button', { name: 'Try again with that' }).click()
  await card.getByText('works', { exact: true }).waitFor()
  await card.getByText('PATH is read when Handrail starts').waitFor()
  await page.getByRole('textbox', { name: 'The JSON of any client' }).fill([command, ...args].join(' '))
  await page.getByRole('button', { name: 'Try it' }).click()
  await page.getByText('PATH is read when Handrail starts').waitFor({ state: 'hidden' })
  await card.getByText('works', { exact: true }).waitFor()
  await card.getByRole('button', { name: 'Write it' }).click()
  await page.getByRole('heading', { name: /needy open/ }).waitFor()

  await page.getByText('Import from another program').click()
  await page.getByRole('group', { name: 'Servers of Cursor' }).getByText('theirs').click()
  await page.getByRole('button', { name: 'Show the change' }).click()
  await page.getByText('+      "env": {').waitFor()
  expect(await page.content()).not.toContain(secret)
  await page.getByRole('button', { name: 'Write it' }).click()
  await expect.poll(() => readFileSync(join(place.home, 'mcp.json'), 'utf8')).toContain('"${SHOP_TOKEN}"')

  expect(registry.asked).toEqual([])
  await page.getByText('Search the registry').click()
  await page.getByRole('textbox', { name: 'Words' }).fill('shop')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Take io.example/<b>shop</b>' }).click()
  const pasted = page.getByRole('textbox', { name: 'The JSON of any client' })
  await expect
    .poll(async () => JSON.parse(await pasted.inputValue()))
    .toEqual({
      command: 'npx',
      args: ['-y', '@example/shop@1.2.3'],
      env: { SHOP_KEY: '${SHOP_KEY}' },
    })
  expect(registry.asked).toEqual(['/v0/servers?search=shop&limit=30&version=latest'])

  await page.getByRole('button', { name: 'Remove needy…' }).click()
  await page.getByText('-    "needy": {').waitFor()
  await page
    .getByRole('region', { name: 'needy', exact: true })
    .getByRole('button', { name: 'Write it' })
    .click()
  await page.getByRole('heading', { name: /needy open/ }).waitFor({ state: 'hidden' })
  // The browser itself tells what was refused.
  expect(faults.filter((fault) => !fault.includes('409'))).toEqual([])
})

test('a registry that is not set, does not answer, or answers with something else is said plainly', async () => {
  const { link, place } = await startConsole()
  const { api } = await enter(link)
  const search = async () => (await api('/registry?search=x')).body.detail
  expect(await search()).toContain('No registry is asked: none is set.')
  writeFileSync(join(place.home, 'config.json'), JSON.stringify({ mcpRegistry: 'http://127.0.0.1:9' }))
  expect(await search()).toContain('could not be asked')
  const server = createServer((_, response) => response.end('[]'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => new Promise((resolve) => server.close(resolve)))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  writeFileSync(join(place.home, 'config.json'), JSON.stringify({ mcpRegistry: url }))
  expect(await search()).toContain('no list of servers')
})
