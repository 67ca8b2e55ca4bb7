import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import {
  call,
  expectNoStack,
  handrail,
  makePlace,
  program,
  startHandrail,
  startProgram,
  type Ended,
  type Place,
} from '../support/command-line.ts'

/** Runs `handrail call` where no file may grow beyond so many blocks of 512 bytes: what a full disk does, and anybody may set it. */
async function callOnFullDisk(place: Place, blocks: number, argv: readonly string[]): Promise<Ended> {
  const line = [process.execPath, program, 'call', ...argv].map((word) => `'${word}'`).join(' ')
  const running = startProgram(place, ['-c', `ulimit -f ${blocks}; exec ${line}`], { command: 'sh' })
  running.child.stdin.end()
  const ended = await running.ended
  expectNoStack(ended)
  return ended
}

test('however full the disk is, the file is the old one or the new one, and the evidence holds afterwards (EVID-1, FILE-6)', async () => {
  const place = makePlace({ 'a.txt': 'old\n' })
  const content = 'new '.repeat(4_000)
  const input = JSON.stringify({ path: 'a.txt', content, overwrite: true })
  const codes = new Set<string>()
  for (const blocks of [0, 16, 64, 72, 100, 140, 4096]) {
    const { code, stderr } = await callOnFullDisk(place, blocks, [
      'code.write_file',
      input,
      '--approve',
      'once',
    ])
    const now = readFileSync(join(place.project, 'a.txt'), 'utf8')
    expect([blocks, readdirSync(place.project)]).toEqual([blocks, ['a.txt']])
    expect([blocks, now === content || now === 'old\n']).toEqual([blocks, true])
    if (code === 0) expect([blocks, now === content, stderr]).toEqual([blocks, true, ''])
    else expect(stderr).toContain('check the disk and its space')
    codes.add(code === 0 ? 'ok' : (/store_unusable|store_failed/.exec(stderr)?.[0] ?? stderr))
    const verified = await handrail(place, ['evidence', 'verify'])
    expect([blocks, verified.code, verified.stdout]).toEqual([
      blocks,
      0,
      expect.stringContaining('The chain holds'),
    ])
  }
  expect(codes).toEqual(new Set(['store_unusable', 'store_failed', 'ok']))
})

test('a file that outgrows the disk stays as it was, and nothing is left beside it (FILE-6)', async () => {
  const old = 'x\n'.repeat(500_000)
  const place = makePlace({ 'a.txt': old })
  await call(place, 'code.list_dir', {})
  const edit = { path: 'a.txt', unified_diff: '@@ -1,2 +1,2 @@\n-x\n+y\n x\n' }
  const argv = ['code.edit_file', JSON.stringify(edit), '--approve', 'once']
  const { code, stdout, stderr } = await callOnFullDisk(place, 1_500, argv)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^TOOL\.FAILED \(no_space\): .*a\.txt/)
  expect(readFileSync(join(place.project, 'a.txt'), 'utf8') === old).toBe(true)
  expect(readdirSync(place.project)).toEqual(['a.txt'])
  expect((await handrail(place, ['evidence', 'verify'])).code).toBe(0)
})

test('a gateway on a disk that fills up says so once, refuses calls, and goes on by itself when there is room (EVID-1)', async () => {
  const rules = [{ effect: 'allow', tools: ['code.write_file'] }]
  const place = makePlace({}, { 'policy.json': { rules } })
  const server = startHandrail(place, ['serve', '--port', '0'])
  await server.saw('Ctrl-C stops.')
  const url = new URL(/handrail serves MCP at (\S+)/.exec(server.output.stdout)?.[1] ?? '')
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(url))
  atEnd(() => client.close())
  const write = async (path: string): Promise<unknown> => {
    const input = { name: 'code__write_file', arguments: { path, content: 'x' } }
    const { isError, content } = await client.callTool(input)
    return [isError ?? false, JSON.stringify(content)]
  }
  const health = async (): Promise<number> => (await fetch(new URL('/healthz', url))).status
  // Of this process alone no file may grow: what a full disk does.
  const limit = (bytes: number | 'unlimited'): void => {
    const { status } = spawnSync('prlimit', ['--pid', String(server.child.pid), `--fsize=${bytes}:unlimited`])
    expect(status).toBe(0)
  }
  expect(await write('before')).toEqual([false, expect.any(String)])
  limit(statSync(`${place.store}-wal`).size)
  for (const path of ['during-1', 'during-2'])
    expect(await write(path)).toEqual([true, expect.stringContaining('check the disk and its space')])
  expect(await health()).toBe(503)
  expect((await handrail(place, ['evidence', 'verify'])).stdout).toContain('The chain holds')
  limit('unlimited')
  await expect.poll(health).toBe(200)
  expect(await write('after')).toEqual([false, expect.any(String)])
  server.child.kill('SIGTERM')
  const { code, stderr } = await server.ended
  expect([code, stderr.split('\n')]).toEqual([
    0,
    [
      expect.stringMatching(/check the disk and its space.* no call runs that has to be recorded\.$/),
      expect.stringMatching(/takes records again\.$/),
      '',
    ],
  ])
  expect(readdirSync(place.project).toSorted()).toEqual(['after', 'before'])
  expect((await handrail(place, ['evidence', 'verify'])).stdout).toContain('The chain holds')
})

test('if the disk has no room for what a call would replace, the call replaces nothing and says why', async () => {
  const old = 'x\n'.repeat(500_000)
  const place = makePlace({ 'a.txt': old, 'd/b.txt': old })
  await call(place, 'code.list_dir', {})
  for (const [tool, input] of [
    ['code.write_file', { path: 'a.txt', content: 'new', overwrite: true }],
    ['code.delete_path', { path: 'd', recursive: true }],
  ] as const) {
    const argv = [tool, JSON.stringify(input), '--approve', 'once']
    const { code, stderr } = await callOnFullDisk(place, 1_000, argv)
    expect([code, stderr]).toEqual([1, expect.stringContaining('history_failed')])
    expect(readFileSync(join(place.project, 'a.txt'), 'utf8')).toBe(old)
    expect(readFileSync(join(place.project, 'd/b.txt'), 'utf8')).toBe(old)
  }
  const kept = readdirSync(join(place.home, 'history'), { recursive: true, encoding: 'utf8' })
  expect(kept.filter((name) => name.includes('part_'))).toEqual([])
  expect(
    (await call(place, 'code.write_file --approve once', { path: 'a.txt', content: 'new', overwrite: true }))
      .code,
  ).toBe(0)
})
