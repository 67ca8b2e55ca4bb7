import { chmodSync, existsSync, lstatSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { makePlace, startHandrail, type Ended, type Place } from '../support/command-line.ts'

const policy = { rules: [{ effect: 'deny', resources: ['handrail:file:{project}/vault/**'] }] }
const makeProject = (): Place => makePlace({ 'a.txt': 'one\n', 'vault/key': 'x' }, { 'policy.json': policy })

const read = (place: Place, path: string): string =>
  JSON.stringify({
    session_id: 's',
    cwd: place.project,
    hook_event_name: 'PreToolUse',
    tool_use_id: path,
    tool_name: 'Read',
    tool_input: { file_path: path },
  })

/** The launcher is what talks to the server, so each of these is a process. */
function hook(place: Place, input: string, ...more: string[]): Promise<Ended> {
  const running = startHandrail(place, ['hook', 'claude-code', ...more])
  running.child.stdin.end(input)
  return running.ended
}

const socketOf = (place: Place): string => join(place.home, 'hooks.sock')

test('a running server answers hooks over a socket for its owner only, by the policy of now, and takes it away', async () => {
  const place = makeProject()
  chmodSync(place.home, 0o700)
  const server = startHandrail(place, ['serve', '--port', '0'])
  await server.saw('Ctrl-C stops')
  expect(lstatSync(socketOf(place)).isSocket()).toBe(true)
  expect(lstatSync(socketOf(place)).mode & 0o777).toBe(0o600)

  const [allowed, denied, broken] = await Promise.all([
    hook(place, read(place, 'a.txt')),
    hook(place, read(place, 'vault/key')),
    hook(place, '{'),
  ])
  expect(allowed.stdout).toContain('"permissionDecision":"allow"')
  expect(denied.stdout).toContain('"permissionDecision":"deny"')
  expect(broken.stdout).toContain('cannot be used')
  expect([allowed, denied, broken].map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ''],
    [0, ''],
    [0, ''],
  ])

  writeFileSync(join(place.home, 'policy.json'), '{ "rules": [{ "effect": "deny", "tools": ["code.*"] }] }')
  expect((await hook(place, read(place, 'a.txt'))).stdout).toContain('"permissionDecision":"deny"')
  const misused = await hook(place, read(place, 'a.txt'), '--bogus')
  expect([misused.code, misused.stderr]).toEqual([2, expect.stringContaining('--bogus')])

  server.child.kill('SIGTERM')
  await server.ended
  expect(existsSync(socketOf(place))).toBe(false)
})

test.each<[string, string | undefined, number]>([
  ['that anybody could have made', '{"code":0,"out":"forged","err":""}', 0o666],
  ['that breaks off', '', 0o600],
  ['that answers something else', '{"code":"0"}', 0o600],
])('a socket %s decides nothing: the hook does', async (_, answer, mode) => {
  const place = makeProject()
  chmodSync(place.home, 0o700)
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.resume().on('end', () => socket.end(answer ?? ''))
  })
  await new Promise<void>((resolve) => {
    server.listen(socketOf(place), () => resolve())
  })
  atEnd(() => void server.close())
  chmodSync(socketOf(place), mode)
  const ended = await hook(place, read(place, 'vault/key'))
  expect([ended.code, ended.stdout]).toEqual([0, expect.stringContaining('"permissionDecision":"deny"')])
})
