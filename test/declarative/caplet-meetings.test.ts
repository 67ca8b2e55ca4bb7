import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Policy, Runtime, RuntimeOptions } from 'handrail'
import { capletTools } from 'handrail/tools'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createClient, textOf } from '../mcp/connect.ts'
import { handrail, makePlace, startHandrail, type Place } from '../support/command-line.ts'
import { keyOf, pack } from '../support/caplets.ts'
import { openRuntime, personSaying } from '../support/project.ts'
import { rounds } from '../support/rounds.ts'
import { startServer } from '../support/start-command.ts'

const none = { type: 'object', properties: {}, additionalProperties: false }
const about = { description: 'Does it.', output: 'text', input_schema: none }
const reading = {
  tool: { ...about, name: 'demo.read', permission: 'readonly', command: './run.sh', args: ['read'] },
}
const writing = {
  tool: { ...about, name: 'demo.write', permission: 'write', command: './run.sh', args: ['written'] },
  write: ['project'],
}
const files = { 'run.sh': '#!/bin/sh\n[ "$1" = written ] && echo x >> written.txt\necho "$1"\n' }

async function installed(...sources: readonly unknown[]): Promise<Place> {
  const place = makePlace({}, { 'note.txt': '' })
  for (const source of sources) {
    const { code, stderr } = await handrail(place, ['caplet', 'install', await pack(place, source, files)])
    if (code !== 0) throw new Error(stderr)
  }
  return place
}

function open(place: Place, options: RuntimeOptions = {}): Promise<Runtime> {
  const source = capletTools({ dir: join(place.home, 'caplets'), publishers: { me: keyOf(place) } })
  return openRuntime({
    project: place.project,
    approve: personSaying('allow_once').approve,
    ...options,
    tools: [source],
  })
}

test('MCP clients see and call it (NEXT-4, MCP-2)', async () => {
  const place = await installed(reading)
  const { url } = await startServer(place)
  const client = createClient({ era: 'modern' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  onTestFinished(() => client.close())
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('demo__read')
  expect(textOf(await client.callTool({ name: 'demo.read', arguments: {} }))).toBe('read\n')
})

test('rules, plan mode, a child session and a person hold it as they hold every tool (NEXT-4)', async () => {
  const place = await installed(reading, writing)
  const denying: Policy = { rules: [{ effect: 'deny', tools: ['demo.read'] }] }
  const denied = await (await open(place, { policy: denying })).session().call('demo.read', {})
  expect(denied).toMatchObject({ ok: false, error: { code: 'POLICY.DENY_TOOL' } })

  const runtime = await open(place)
  expect(await runtime.session({ mode: 'plan' }).call('demo.write', {})).toMatchObject({
    error: { reason: 'mode_denied' },
  })
  expect(await runtime.session({ mode: 'plan' }).call('demo.read', {})).toMatchObject({ ok: true })
  const parent = runtime.session()
  const child = runtime.session({ parent, disallowedTools: ['demo.write'] })
  expect(await child.call('demo.write', {})).toMatchObject({ ok: false })
  const no = await (
    await open(place, { approve: personSaying('deny').approve })
  )
    .session()
    .call('demo.write', {})
  expect(no).toMatchObject({ error: { reason: 'denied' } })
  expect(existsSync(join(place.project, 'written.txt'))).toBe(false)
})

test('a call with a key runs its program once, and the evidence names the package (NEXT-4)', async () => {
  const place = await installed(writing)
  const runtime = await open(place)
  const call = () => runtime.session().call('demo.write', {}, { idempotencyKey: 'write-it-once' })
  const [first, second] = [await call(), await call()]
  expect([first.ok, second.ok, second.metadata.replayed]).toEqual([true, true, true])
  expect(readFileSync(join(place.project, 'written.txt'), 'utf8')).toBe('x\n')
  const { metadata } = runtime.registry.find('demo.write')?.definition ?? {}
  expect(metadata).toMatchObject({
    caplet: { digest: expect.stringMatching(/^sha256:/), publisher: keyOf(place) },
  })
})

test('an install that is killed leaves nothing or all of it, and the next one installs it (NEXT-4)', async () => {
  const place = makePlace({}, { 'note.txt': '' })
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`lib/f${index}`, 'x']))
  const packed = await pack(place, reading, { ...files, ...many })
  const caplets = join(place.home, 'caplets')
  const names = () => (existsSync(caplets) ? readdirSync(caplets) : [])
  for (let round = 0; round < rounds({ usual: 2, long: 40 }); round += 1) {
    const running = startHandrail(place, ['caplet', 'install', packed])
    const before = names().length
    await vi.waitFor(() => {
      if (names().length === before && running.child.exitCode === null) throw new Error('not yet')
    })
    running.child.kill('SIGKILL')
    await running.ended
    const { code } = await handrail(place, ['caplet', 'list'])
    expect(code).toBe(0)
  }
  const old = join(caplets, '.00000000-0000-0000-0000-000000000000.new')
  mkdirSync(old)
  utimesSync(old, 0, 0)
  expect((await handrail(place, ['caplet', 'install', packed])).code).toBe(0)
  expect(existsSync(old)).toBe(false)
  expect((await handrail(place, ['call', 'demo.read'])).stdout).toBe('read\n')
})
