import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { handrail, jsonOf, makePlace, type Place } from '../../support/command-line.ts'
import { startServer } from '../../support/start-command.ts'

const allow = { rules: [{ effect: 'allow', tools: ['code.write_file'] }] }

/** A server of a place, and a client that writes a file through it. */
async function serve(place: Place) {
  const server = await startServer(place)
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
  onTestFinished(() => client.close())
  const write = async (path: string) => {
    const answer = await client.callTool({ name: 'code__write_file', arguments: { path, content: 'x' } })
    return answer.isError === true ? JSON.stringify(answer.content) : 'ok'
  }
  return { server, write }
}

test('a policy that is written while a server runs holds for the next call, and is in the evidence (AUTH-5)', async () => {
  const place = makePlace({}, { 'policy.json': allow })
  const policy = join(place.home, 'policy.json')
  const { server, write } = await serve(place)
  expect(await write('a.txt')).toBe('ok')

  const deny = { rules: [{ id: 'closed', effect: 'deny', tools: ['code.*'] }] }
  writeFileSync(`${policy}.new`, JSON.stringify(deny))
  renameSync(`${policy}.new`, policy)
  await server.saw('version 2 of the policy is in force')
  expect(await write('b.txt')).toContain('closed')

  writeFileSync(policy, JSON.stringify(allow))
  await server.saw('version 3 of the policy is in force')
  expect(await write('c.txt')).toBe('ok')

  server.stop()
  expect((await server.ended).code).toBe(0)
  expect(jsonOf(await handrail(place, ['evidence', 'list', '--json']))).toMatchObject([
    { outcome: 'ok' },
    { outcome: 'denied' },
    { outcome: 'ok' },
  ])
  expect((await handrail(place, ['evidence', 'verify'])).code).toBe(0)
})

test('a policy with an issue, or one that is gone, leaves the one before in force and says so (AUTH-5)', async () => {
  const deny = { rules: [{ id: 'closed', effect: 'deny', tools: ['code.write_file'] }] }
  const place = makePlace({}, { 'policy.json': deny })
  const policy = join(place.home, 'policy.json')
  const { server, write } = await serve(place)
  writeFileSync(policy, JSON.stringify({ ...allow, rule: [] }))
  await server.saw(`${policy}#/rule:`)
  expect(server.output.stderr).toContain('the one before stays in force')
  expect(await write('a.txt')).toContain('closed')
  rmSync(policy)
  await server.saw('It is gone since the last start.')
  expect(await write('b.txt')).toContain('closed')
  writeFileSync(policy, JSON.stringify(allow))
  await server.saw('version 2 of the policy is in force')
  expect(await write('c.txt')).toBe('ok')
})

test('limits, tool lists and sensitive paths change with it; the rest waits for the next start and is named (AUTH-5)', async () => {
  const place = makePlace({ 'handrail.json': '{}' }, { 'policy.json': allow })
  const { server, write } = await serve(place)
  writeFileSync(
    join(place.home, 'config.json'),
    JSON.stringify({ disallowedTools: ['code.write_file'], env: ['NODE_ENV'] }),
  )
  await server.saw('env of config.json wait for the next start')
  expect(await write('a.txt')).toContain('tool_not_available')
})

test("a policy that takes away a tenant's folder is refused while the tenant is served, and says whose (AUTH-5, AUTH-6)", async () => {
  const place = makePlace({}, { 'policy.json': { tenants: { acme: {} } } })
  const server = await startServer(place, ['--port', '0', '--tenant', 'acme'])
  const policy = join(place.home, 'policy.json')
  writeFileSync(`${policy}.new`, JSON.stringify({ tenants: { acme: { project: '/nowhere' } } }))
  renameSync(`${policy}.new`, policy)
  await server.saw(
    'The new policy cannot be used, and the one before stays in force: The tenant "acme" could not go on. The project folder "/nowhere" does not exist.',
  )
})
