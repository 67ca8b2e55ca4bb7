import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace } from '../support/command-line.ts'
import { makeNeedyServer } from '../support/needy-server.ts'

const secret = 'hush-hush-4711-secret'

test('mcp add --try starts a server first, and writes the entry that its words need', async () => {
  const place = makePlace()
  const { command, args, code, data } = makeNeedyServer()
  const shown = await handrail(place, ['mcp', 'add', 'needy', '--try', '--', command, ...args])
  expect(shown.code).toBe(2)
  expect(shown.stderr).toContain('"needy" works, with these tools: mcp.needy.look')
  expect(existsSync(join(place.home, 'mcp.json'))).toBe(false)
  const added = await handrail(place, ['mcp', 'add', 'needy', '--try', '--yes', '--', command, ...args])
  expect(added.code, added.stderr).toBe(0)
  const written = JSON.parse(readFileSync(join(place.home, 'mcp.json'), 'utf8'))
  expect(written.mcpServers.needy).toEqual({ command, args, read: [code, data] })
  const status = jsonOf(await handrail(place, ['mcp', 'status', '--json']))
  expect(status).toMatchObject({ servers: [{ server: 'needy', state: 'open' }] })
})

test('mcp add --paste takes the JSON of another client, keeps its secret out, and says what only its program asks for', async () => {
  const place = makePlace()
  const { command, args, code, data } = makeNeedyServer()
  const entry = { command, args, read: [code, data], env: { NEEDS_HOST: '1', SHOP_TOKEN: secret } }
  const input = JSON.stringify({ mcpServers: { theirs: entry } })
  const argv = ['mcp', 'add', 'needy', '--paste', '-', '--try', '--yes']
  const { code: exit, stdout, stderr } = await handrail(place, argv, { input })
  expect(exit, stderr).toBe(0)
  expect(stderr).toContain('It asked for api.shop.example and was kept from that.')
  expect(stderr).toContain('--network api.shop.example')
  expect(stderr).toContain('SHOP_TOKEN is not set here')
  const text = readFileSync(join(place.home, 'mcp.json'), 'utf8')
  expect(text).toContain('"SHOP_TOKEN": "${SHOP_TOKEN}"')
  for (const each of [stdout, stderr, text]) expect(each).not.toContain(secret)
})

test('mcp add --paste --try starts nothing with a variable of the environment that was not named', async () => {
  const place = makePlace()
  const { command, args } = makeNeedyServer()
  const input = JSON.stringify({ command, args, env: { SHOP_TOKEN: '${SHOP_PASS}' } })
  const argv = ['mcp', 'add', 'needy', '--paste', '-', '--try', '--yes']
  const env = { SHOP_PASS: 'of-this-machine-4712' }
  const held = await handrail(place, argv, { input, env })
  expect([held.code, held.stderr]).toEqual([
    2,
    expect.stringContaining('--env SHOP_PASS. Nothing was changed.'),
  ])
  expect(existsSync(join(place.home, 'mcp.json'))).toBe(false)
  const added = await handrail(place, [...argv, '--env', 'SHOP_PASS,SHOP_KEY'], { input, env })
  expect(added.code, added.stderr).toBe(0)
  const { needy } = JSON.parse(readFileSync(join(place.home, 'mcp.json'), 'utf8')).mcpServers
  expect(needy.env).toEqual({ SHOP_TOKEN: '${SHOP_PASS}', SHOP_KEY: '${SHOP_KEY}' })
})

test('mcp import --try does the same, and who changed the file is in the evidence', async () => {
  const place = makePlace()
  const { command, args, code, data } = makeNeedyServer()
  const file = join(place.project, 'theirs.json')
  writeFileSync(file, JSON.stringify({ mcpServers: { needy: { command, args } } }))
  const imported = await handrail(place, ['mcp', 'import', 'claude-code', '--file', file, '--try', '--yes'])
  expect(imported.code, imported.stderr).toBe(0)
  const written = JSON.parse(readFileSync(join(place.home, 'mcp.json'), 'utf8'))
  expect(written.mcpServers.needy.read).toEqual([code, data])
  expect((await handrail(place, ['mcp', 'remove', 'needy', '--yes'])).code).toBe(0)
  const told = (await handrail(place, ['evidence', 'export'])).stdout
  for (const did of ['wrote the entry of', 'removed'])
    expect(told).toContain(`${userInfo().username} ${did} the MCP server`)
})
