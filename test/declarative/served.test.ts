import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createClient, textOf } from '../mcp/connect.ts'
import { handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'
import { startServer } from '../support/start-command.ts'
import { texts, toolFile, writeTools } from '../support/declared-tools.ts'

const saying = (word: string, more: Record<string, unknown> = {}) =>
  toolFile({ permission: 'readonly', command: 'echo', args: [word], ...more })

/** `handrail serve` over HTTP, and a client of its own for each look, so that each is a session opened then. */
async function serve(place: Place) {
  const running = await startServer(place)
  const connect = async () => {
    const client = createClient({ era: 'modern' })
    await client.connect(new StreamableHTTPClientTransport(new URL(running.url)))
    onTestFinished(() => client.close())
    return client
  }
  return {
    running,
    connect,
    async names() {
      const client = await connect()
      const { tools } = await client.listTools()
      return tools.map(({ name }) => name).filter((name) => name.startsWith('demo__'))
    },
    async call(name: string, input: Record<string, unknown> = {}) {
      const client = await connect()
      return client.callTool({ name, arguments: input })
    },
  }
}

test('MCP clients see and call what is declared, and values pass as they are (DECL-1, DECL-3, MCP-2)', async () => {
  const place = makePlace()
  writeTools(join(place.home, 'tools'), {
    'say.json': saying('x', { name: 'demo.say', args: ['said:', '{{word}}'], input_schema: texts('word') }),
    'bad.json': '{',
  })
  const gateway = await serve(place)
  expect(await gateway.names()).toEqual(['demo__say'])
  expect(gateway.running.output.stderr).toContain('bad.json')
  expect(textOf(await gateway.call('demo.say', { word: '$(id); "b"' }))).toBe('said: $(id); "b"\n')
  const refused = await gateway.call('demo.say', { word: '-n' })
  expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining('argv_flag')])
})

test('files that come, change and go are followed without a restart (DECL-1, REG-7)', async () => {
  const place = makePlace()
  const folder = join(place.home, 'tools')
  const gateway = await serve(place)
  expect(await gateway.names()).toEqual([])
  writeTools(folder, { 'a.json': saying('one') })
  await vi.waitFor(async () => expect(textOf(await gateway.call('demo.tool'))).toBe('one\n'), {
    interval: 400,
  })
  writeTools(folder, { 'a.json': saying('two'), 'b.json': saying('b', { name: 'demo.b' }) })
  await vi.waitFor(async () => expect(textOf(await gateway.call('demo.tool'))).toBe('two\n'), {
    interval: 400,
  })
  await vi.waitFor(async () => expect(await gateway.names()).toEqual(['demo__b', 'demo__tool']), {
    interval: 400,
  })
  renameSync(join(folder, 'b.json'), join(folder, 'c.json'))
  rmSync(join(folder, 'a.json'))
  await vi.waitFor(async () => expect(await gateway.names()).toEqual(['demo__b']), { interval: 400 })
  expect(textOf(await gateway.call('demo.b'))).toBe('b\n')
  rmSync(folder, { recursive: true })
  await vi.waitFor(async () => expect(await gateway.names()).toEqual([]), { interval: 400 })
  gateway.running.stop()
  expect((await gateway.running.ended).code).toBe(0)
  const listed = await handrail(place, ['evidence', 'list', '--notes', '--json'])
  const events = listed.stdout.match(/tool_(registered|updated|removed)/g)
  expect(new Set(events)).toEqual(new Set(['tool_registered', 'tool_updated', 'tool_removed']))
})

test('a composition calls its part as the file of that one is now, and says what does not fit any more (NEXT-1, DECL-1)', async () => {
  const place = makePlace()
  const folder = join(place.home, 'tools')
  const both = { name: 'demo.both', description: 'Says it.', parts: { say: { tool: 'demo.tool' } } }
  writeTools(folder, { 'a.json': saying('one'), 'both.json': both })
  const gateway = await serve(place)
  const say = async () => textOf(await gateway.call('demo.both'))
  expect(await say()).toContain('one')
  writeTools(folder, { 'a.json': saying('two') })
  await vi.waitFor(async () => expect(await say()).toContain('two'), { interval: 400 })
  writeTools(folder, { 'a.json': saying('x', { args: ['{{word}}'], input_schema: texts('word') }) })
  await gateway.running.saw('both.json')
  await vi.waitFor(async () => expect(await say()).toContain('parts_unfit'), { interval: 400 })
  writeTools(folder, { 'a.json': saying('three') })
  await vi.waitFor(async () => expect(await say()).toContain('three'), { interval: 400 })
})

test('a file that is half written, or at fault, leaves the tool as it was and is told once (DECL-1)', async () => {
  const place = makePlace()
  const folder = join(place.home, 'tools')
  writeTools(folder, { 'a.json': saying('one') })
  const gateway = await serve(place)
  const half = JSON.stringify(saying('two')).slice(0, 60)
  writeFileSync(join(folder, 'a.json'), half)
  await gateway.running.saw('not valid JSON')
  expect(textOf(await gateway.call('demo.tool'))).toBe('one\n')
  writeTools(folder, { 'a.json': { ...saying('three'), colour: 'red' } })
  await gateway.running.saw('/colour')
  expect(textOf(await gateway.call('demo.tool'))).toBe('one\n')
  writeTools(folder, { 'a.json': saying('four') })
  await vi.waitFor(async () => expect(textOf(await gateway.call('demo.tool'))).toBe('four\n'), {
    interval: 400,
  })
  expect(gateway.running.output.stderr.match(/\/colour/g)).toHaveLength(1)
})

test('a file that takes a built-in name while serving takes nothing, and its going takes nothing (DECL-1)', async () => {
  const place = makePlace({ 'a.txt': 'text' })
  const folder = join(place.home, 'tools')
  const gateway = await serve(place)
  writeTools(folder, { 'a.json': saying('mine', { name: 'code.read_file' }) })
  await gateway.running.saw('code.read_file')
  const read = async () => textOf(await gateway.call('code.read_file', { path: 'a.txt' }))
  expect(await read()).toContain('text')
  rmSync(join(folder, 'a.json'))
  writeTools(folder, { 'b.json': saying('b') })
  await vi.waitFor(async () => expect(await gateway.names()).toEqual(['demo__tool']), { interval: 400 })
  expect(await read()).toContain('text')
})

test('a project declares nothing (DECL-1)', async () => {
  const file = JSON.stringify(saying('mine'))
  const place = makePlace({
    'tools/a.json': file,
    '.handrail/tools/a.json': file,
    'handrail/tools/a.json': file,
  })
  const { stdout, code } = await handrail(place, ['tools'])
  expect([code, stdout.includes('demo.')]).toEqual([0, false])
  expect((await handrail(place, ['call', 'demo.tool'])).stderr).toContain('tool_not_available')
})

test('the command line lists, explains and calls what is declared; a bad file is told and spoils nothing (DECL-1)', async () => {
  const place = makePlace()
  writeTools(join(place.home, 'tools'), {
    'a.json': toolFile({ command: 'touch', args: ['made'], tags: ['shop'] }),
    'bad.json': { ...toolFile({ name: 'demo.bad' }), colour: 'red' },
  })
  const listed = await handrail(place, ['tools', '--tag', 'shop'])
  expect([listed.code, listed.stdout]).toEqual([0, expect.stringMatching(/^demo\.tool .*\n1 tool\n$/)])
  expect(listed.stderr).toContain('/colour')
  const explained = await handrail(place, ['explain', 'demo.tool'])
  expect(explained.stdout).toContain('touch made')
  expect((await handrail(place, ['call', 'demo.tool'])).code).toBe(3)
  expect((await handrail(place, ['call', 'demo.tool', '--approve', 'once'])).code).toBe(0)
})

test('a secret of a tool comes from the environment of the person, and is redacted (DECL-4, OUT-4)', async () => {
  const place = makePlace()
  writeTools(join(place.home, 'tools'), {
    'a.json': toolFile({
      permission: 'readonly',
      command: 'node',
      args: ['-e', 'console.log(process.env.SHOP_TOKEN, process.env.SHOP_TOKEN.length, process.env.OTHER)'],
      secrets: ['SHOP_TOKEN'],
    }),
  })
  const env = { SHOP_TOKEN: 'correct-horse-battery', OTHER: 'hidden' }
  const { code, stdout } = await handrail(place, ['call', 'demo.tool'], { env })
  expect([code, stdout]).toEqual([0, '[redacted] 21 undefined\n'])
})

test('tools check gives every issue of every file, and exit code 2 (DECL-1)', async () => {
  const place = makePlace()
  const folder = join(place.home, 'tools')
  const none = await handrail(place, ['tools', 'check'])
  expect([none.code, none.stdout]).toEqual([0, `There is no tool in "${folder}".\n`])
  writeTools(folder, { 'a.json': saying('a') })
  const fine = await handrail(place, ['tools', 'check'])
  expect([fine.code, fine.stdout]).toEqual([0, `${join(folder, 'a.json')}: demo.tool, readonly, no issue\n`])
  writeTools(folder, {
    'b.json': { ...saying('b'), name: 'x', colour: 'red', args: ['--a={{b}}'] },
    'c.json': '',
    'd.json': saying('d'),
    'e.json': saying('e', { name: 'code.read_file' }),
  })
  mkdirSync(join(folder, 'f.json'))
  const all = await handrail(place, ['tools', 'check'])
  expect([all.code, all.stderr]).toEqual([2, ''])
  expect(all.stdout.match(/^\/.*$|^ {2}\/[a-z0-9/]*:/gm)).toEqual([
    `${join(folder, 'a.json')}: demo.tool, readonly, no issue`,
    `${join(folder, 'b.json')}: 3 issues`,
    '  /name:',
    '  /colour:',
    '  /args/0:',
    `${join(folder, 'c.json')}: 1 issue`,
    '  /:',
    `${join(folder, 'd.json')}: 1 issue`,
    '  /name:',
    `${join(folder, 'e.json')}: 1 issue`,
    '  /:',
    `${join(folder, 'f.json')}: 1 issue`,
    '  /:',
  ])
  const named = await handrail(place, [
    'tools',
    'check',
    join(folder, 'a.json'),
    join(folder, 'e.json'),
    '--json',
  ])
  expect(named.code).toBe(2)
  expect(jsonOf<unknown[]>(named)).toMatchObject([
    { path: join(folder, 'a.json'), ok: true, tool: 'demo.tool', issues: [] },
    { path: join(folder, 'e.json'), ok: false, issues: [{ code: 'tool_quarantined' }] },
  ])
  const missing = await handrail(place, ['tools', 'check', 'nothing.json'])
  expect([missing.code, missing.stdout]).toEqual([2, expect.stringContaining('There is no such file')])
})

test('other verbs of tools still take one name', async () => {
  const { code, stderr } = await handrail(makePlace(), ['tools', 'pause', 'code.read_file', 'code.glob'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('"code.glob" is one argument too many')])
})
