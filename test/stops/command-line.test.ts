import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { call, handrail, jsonOf, makePlace, startHandrail, type Place } from '../support/command-line.ts'
import { toServer } from '../support/serve-stdio.ts'
import { allowAll, lastRunOf, openSchedules, schedule } from '../agents/schedule-doors.ts'

const slow = ['call', 'code.run_command', '{"argv": ["sh", "-c", "echo started > here; exec sleep 60"]}']

async function startSlow(place: Place) {
  const running = startHandrail(place, [...slow, '--approve', 'once'])
  await expect.poll(() => existsSync(join(place.project, 'here'))).toBe(true)
  return running
}

const read = (place: Place) => call(place, 'code.read_file', { path: 'a.txt' })

test('a person lists the calls of another process, aborts one by the end of its id, pauses everything, and resumes', async () => {
  const place = makePlace({ 'a.txt': 'one\n' })
  const running = await startSlow(place)
  const listed = jsonOf(await handrail(place, ['calls', '--json'])) as { call: string; tool: string }[]
  expect(listed).toMatchObject([{ tool: 'code.run_command', actor: 'user', tenant: 'local' }])
  expect((await handrail(place, ['calls'])).stdout).toMatch(/code\.run_command {2}local\/user .*\n1 call\n$/)
  const aborted = await handrail(place, ['abort', listed[0]?.call.slice(-6) ?? '', '--why', 'wrong branch'])
  expect([aborted.code, aborted.stderr]).toEqual([0, 'handrail: 1 call aborted\n'])
  const ended = await running.ended
  expect(ended.stderr).toContain('TOOL.ABORTED (aborted_by_user)')
  expect(ended.stderr).toContain('wrong branch')
  expect((await handrail(place, ['calls'])).stdout).toBe('0 calls\n')

  const paused = await handrail(place, ['pause', '--all', '--why', 'it pays twice'])
  expect(paused.stdout).toMatch(/^pause_\w+ {2}everything {2}by \S+ at .*: it pays twice\n$/)
  const refused = await read(place)
  expect(refused.code).toBe(3)
  expect(refused.stderr).toContain('POLICY.DENY_TOOL (calls_paused)')
  expect(refused.stderr).toContain('it pays twice')
  expect((await handrail(place, ['pause'])).stdout).toContain('1 pause\n')
  expect((await handrail(place, ['resume', '--all'])).code).toBe(0)
  expect((await read(place)).code).toBe(0)
  expect((await handrail(place, ['resume', '--all'])).code).toBe(1)
})

test('a pause of a name that nothing has holds, and says so with what is near; a pattern means what may come', async () => {
  const place = makePlace({ 'a.txt': 'one\n' }, { 'mcp.json': { mcpServers: { shop: { command: 'none' } } } })
  const tool = await handrail(place, ['pause', '--tool', 'code.read_fil'])
  expect(tool.code).toBe(0)
  expect(tool.stderr).toContain('No tool is named "code.read_fil" now, so this means nothing until one is.')
  expect(tool.stderr).toContain('Did you mean "code.read_file"')
  const server = await handrail(place, ['pause', '--server', 'shopp', '--abort'])
  expect(server.stderr).toContain('No server is named "shopp" now')
  expect(server.stderr).toContain('Did you mean "shop"?')
  expect((await handrail(place, ['abort', '--tool', 'code.sarch'])).stderr).toContain('"code.search"')
  for (const known of ['--tool code.read_file', '--tool mcp.later.*', '--server shop', '--all'])
    expect((await handrail(place, ['pause', ...known.split(' ')])).stderr).toBe('')
  expect(jsonOf(await handrail(place, ['pause', '--json']))).toMatchObject([
    { tools: 'code.read_fil' },
    { server: 'shopp' },
    { tools: 'code.read_file' },
    { tools: 'mcp.later.*' },
    { server: 'shop' },
    {},
  ])
})

test('what is paused with --abort ends at once, also while the policy has a fault', async () => {
  const place = makePlace({ 'a.txt': 'one\n' })
  const running = await startSlow(place)
  writeFileSync(join(place.home, 'policy.json'), '{"rules": [}')
  const paused = await handrail(place, ['pause', '--tool', 'code.run_*', '--abort', '--why', 'stop'])
  expect([paused.code, paused.stderr]).toEqual([0, 'handrail: 1 call aborted\n'])
  expect((await running.ended).stderr).toContain('aborted')
  writeFileSync(join(place.home, 'policy.json'), '{}')
  expect((await read(place)).code).toBe(0)
  const resumed = await handrail(place, ['resume', '--tool', 'code.run_*'])
  expect(resumed.stdout).toMatch(/^resumed {2}pause_/)
})

test.each([
  [['pause', '--why', 'x'], 'Say what to pause'],
  [['pause', '--all', '--tool', 'a.b'], '--all means everything'],
  [['pause', '--actor', 'a b'], 'not an id of an actor'],
  [['resume'], 'Say what to resume'],
  [['abort'], 'Say what to abort'],
  [['abort', 'x', '--all'], 'name it alone'],
])('what means nothing is refused: %j', async (argv, said) => {
  const { code, stderr } = await handrail(makePlace(), argv)
  expect(code).toBe(2)
  expect(stderr).toContain(said)
})

test('the clients of a server that runs, and agents that ask through hooks, are held to a pause of now', async () => {
  const place = makePlace({ 'a.txt': 'one\n' })
  const client = new Client({ name: 'it', version: '1' })
  await client.connect(toServer(place))
  atEnd(() => client.close())
  const look = () => client.callTool({ name: 'code__read_file', arguments: { path: 'a.txt' } })
  const ask = async (tool = 'Read') => {
    const message = {
      session_id: 'ses-1',
      cwd: place.project,
      hook_event_name: 'PreToolUse',
      tool_use_id: `toolu_${tool}`,
      tool_name: tool,
      tool_input: { file_path: join(place.project, 'a.txt') },
    }
    const { stdout } = await handrail(place, ['hook', 'claude-code'], { input: JSON.stringify(message) })
    return stdout
  }
  expect((await look()).isError ?? false).toBe(false)
  expect(await ask()).toContain('"allow"')
  await handrail(place, ['pause', '--tool', 'code.read_file', '--why', 'not today'])
  const refused = await look()
  expect(refused.isError).toBe(true)
  expect(JSON.stringify(refused.content)).toContain('not today')
  const answer = await ask()
  expect(answer).toContain('"deny"')
  expect(answer).toContain('not today')
  // An agent has servers of its own.
  expect(await ask('mcp__shop__refund')).toContain('"ask"')
  await handrail(place, ['pause', '--server', 'shop', '--why', 'it pays twice'])
  expect(await ask('mcp__shop__refund')).toContain('it pays twice')
  expect(await ask('mcp__shop2__refund')).toContain('"ask"')
})

test('a schedule whose author is paused does nothing, and its run says why', async () => {
  const { runtime, clock, lines } = await openSchedules({ policy: allowAll })
  const made = await schedule(runtime.session({ actor: 'ada' }), { schedule: '0 9 * * 2', time_zone: 'UTC' })
  await runtime.stops.pause({ actor: 'ada', by: 'bob' })
  const runner = runtime.schedules.start()
  clock.forward(1)
  await expect
    .poll(() => lastRunOf(runtime, made.id), { interval: 50 })
    .toMatchObject({ state: 'failed', error: { reason: 'calls_paused' } })
  expect(lines()).toEqual([])
  await runner.close()
})
