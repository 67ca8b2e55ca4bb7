import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atEnd, keepOpen } from '../support/at-end.ts'
import {
  handrail,
  jsonOf,
  makePlace,
  packageRoot,
  program,
  startHandrail,
  startProgram,
  type Ended,
  type Place,
  type Running,
} from '../support/command-line.ts'

const policy = { rules: [{ effect: 'deny', resources: ['handrail:file:{project}/vault/**'] }] }
const makeProject = (): Place => makeOwn({ 'a.txt': 'one\n', 'vault/key': 'x' })

/** A place whose home is for who runs the test alone, as the launcher wants it. */
function makeOwn(files: Readonly<Record<string, string>>): Place {
  const place = makePlace(files, { 'policy.json': policy })
  chownSync(place.home, process.getuid?.() ?? 0, process.getgid?.() ?? 0)
  chmodSync(place.home, 0o700)
  return place
}

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
  return end(startHandrail(place, ['hook', 'claude-code', ...more]), input)
}

/** The launcher without the command line, so that it fails if no server answers. */
function served(place: Place, input: string, ...more: string[]): Promise<Ended> {
  const bin = join(place.user, 'bare', 'bin')
  if (!existsSync(bin)) cpSync(join(packageRoot, 'bin'), bin, { recursive: true })
  return end(startProgram(place, [join(bin, 'handrail.cjs'), 'hook', 'claude-code', ...more]), input)
}

function end(running: Running, input: string): Promise<Ended> {
  running.child.stdin.end(input)
  return running.ended
}

const socketOf = (place: Place): string => join(place.home, 'serve.sock')

/** A server that answers hooks, with what it keeps for the next one made by the first ones. */
async function startServer(place: Place): Promise<Running> {
  const server = startHandrail(place, ['serve', '--port', '0'])
  await server.saw('Ctrl-C stops')
  for (const _ of [1, 2]) expect(decisionOf(await served(place, read(place, 'a.txt')))).toBe('allow')
  return server
}

async function stop(server: Running): Promise<void> {
  server.child.kill('SIGTERM')
  expect((await server.ended).code).toBe(0)
}

function decisionOf(ended: Ended): string {
  const { hookSpecificOutput } = jsonOf<{ hookSpecificOutput: { permissionDecision: string } }>(ended)
  return hookSpecificOutput.permissionDecision
}

test('a running server answers hooks over a socket for its owner only, by the policy of now, and takes it away', async () => {
  const place = makeProject()
  const server = startHandrail(place, ['serve', '--port', '0'])
  await server.saw('Ctrl-C stops')
  expect(lstatSync(socketOf(place)).isSocket()).toBe(true)
  expect(lstatSync(socketOf(place)).mode & 0o777).toBe(0o600)

  const [allowed, denied, broken] = await Promise.all([
    served(place, read(place, 'a.txt')),
    served(place, read(place, 'vault/key')),
    served(place, '{'),
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
  expect((await served(place, read(place, 'a.txt'))).stdout).toContain('"permissionDecision":"deny"')
  const misused = await hook(place, read(place, 'a.txt'), '--bogus')
  expect([misused.code, misused.stderr]).toEqual([2, expect.stringContaining('--bogus')])

  server.child.kill('SIGTERM')
  await server.ended
  expect(existsSync(socketOf(place))).toBe(false)
})

test.skipIf(spawnSync('unshare', ['-m', 'true']).status !== 0)(
  'a hook in a container decides about the files there: a link that leads into what is denied is none for the server',
  async () => {
    const place = makeProject()
    await startServer(place)
    const input = join(place.user, 'input')
    writeFileSync(input, read(place, 'a.txt'))
    const script = `
      mount --bind '${join(place.project, 'vault')}' /mnt
      mount -t tmpfs -o mode=755 handrail '${place.project}' && cd '${place.project}'
      mkdir vault && mount --bind /mnt vault && ln -s vault/key a.txt
      exec '${process.execPath}' '${program}' hook claude-code < '${input}'`
    const inside = startProgram(place, ['-m', 'sh', '-c', script], { command: 'unshare' })
    expect(decisionOf(await inside.ended)).toBe('deny')
    expect(decisionOf(await hook(place, read(place, 'a.txt')))).toBe('allow')
  },
)

test('a secret that only the agent has in its environment stays out of what a hook leaves beside a server', async () => {
  const place = makeProject()
  const secret = 'opaque-canary-4711'
  writeFileSync(
    join(place.home, 'config.json'),
    '{ "webSearch": { "engine": "brave", "secret": "SEARCH_KEY" } }',
  )
  await startServer(place)
  const input = read(place, 'b.txt').replace('"file_path":"b', `"file_path":"${secret}`)
  const running = startHandrail(place, ['hook', 'claude-code'], { env: { SEARCH_KEY: secret } })
  expect(decisionOf(await end(running, input))).toBe('allow')
  const { stdout } = await handrail(place, ['evidence', 'export'])
  expect(stdout).toContain('[redacted].txt')
  expect(stdout).not.toContain(secret)
})

test.each<[string, string | undefined, number]>([
  ['that anybody could have made', '{"code":0,"out":"forged","err":""}', 0o666],
  ['that breaks off', '', 0o600],
  ['that answers something else', '{"code":"0"}', 0o600],
])('a socket %s decides nothing: the hook does', async (_, answer, mode) => {
  const place = makeProject()
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

const denyReads = '{ "rules": [{ "effect": "deny", "tools": ["code.read_file"] }] }'

/** A place with a server, for what changes there and is put back. */
const changing = keepOpen(async () => {
  const place = makeOwn({ 'a.txt': 'one\n', 'handrail.json': `{}${' '.repeat(denyReads.length - 2)}` })
  await startServer(place)
  const original = new Map(
    [join(place.home, 'policy.json'), join(place.project, 'handrail.json')].map((path) => [
      path,
      readFileSync(path, 'utf8'),
    ]),
  )
  const putBack = () => {
    for (const [path, text] of original) writeFileSync(path, text)
    for (const name of ['gateway.json', 'config.json']) rmSync(join(place.home, name), { force: true })
  }
  return { place, putBack }
})

test.each<[string, (place: Place) => void]>([
  ['a rule in the policy', ({ home }) => writeFileSync(join(home, 'policy.json'), denyReads)],
  ['a rule of the project', ({ project }) => writeFileSync(join(project, 'handrail.json'), denyReads)],
  ['a rule of the project as long', ({ project }) => exchange(join(project, 'handrail.json'), denyReads)],
  ['a policy that is gone', ({ home }) => rmSync(join(home, 'policy.json'))],
  ['a policy that cannot be read', ({ home }) => writeFileSync(join(home, 'policy.json'), '{')],
  [
    'a policy in both places',
    ({ home }) => writeFileSync(join(home, 'gateway.json'), '{ "policy": { "rules": [] } }'),
  ],
])('a server that answered hooks before denies the next one for %s', async (_, change) => {
  const { place, putBack } = changing()
  expect(decisionOf(await served(place, read(place, 'a.txt')))).toBe('allow')
  change(place)
  expect(decisionOf(await served(place, read(place, 'a.txt')))).toBe('deny')
  putBack()
})

// Each with a server of its own, as one that met another configuration stays with what it makes of it.
test.each<[string, (place: Place) => void]>([
  [
    'another configuration',
    ({ home }) => writeFileSync(join(home, 'config.json'), '{ "disallowedTools": ["code.*"] }'),
  ],
  [
    'a hook of the configuration',
    ({ home }) =>
      writeFileSync(
        join(home, 'config.json'),
        JSON.stringify({ hooks: [{ on: 'PreToolUse', tools: ['code.*'], command: ['false'] }] }),
      ),
  ],
])('a server that answered hooks before denies the next one for %s', async (_, change) => {
  const place = makeProject()
  const server = await startServer(place)
  change(place)
  expect(decisionOf(await served(place, read(place, 'a.txt')))).toBe('deny')
  await stop(server)
})

/** Puts another file in the place of one. */
function exchange(path: string, text: string): void {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

test('of servers that start at the same moment each starts, and one of them answers hooks', async () => {
  const place = makeProject()
  const servers = Array.from({ length: 4 }, () => startHandrail(place, ['serve', '--port', '0']))
  await Promise.all(servers.map((server) => server.saw('Ctrl-C stops.')))
  const sockets = readdirSync(place.home).filter((name) => name.endsWith('.sock'))
  expect(sockets).toEqual(['serve.sock'])
  expect(lstatSync(join(place.home, 'serve.sock')).mode & 0o777).toBe(0o600)
  for (const { child } of servers) child.kill('SIGTERM')
  const ended = await Promise.all(servers.map((server) => server.ended))
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0])
  expect(existsSync(join(place.home, 'serve.sock'))).toBe(false)
})

test('a server keeps hooks of several tenants, agents and projects apart, and its end seals what they recorded', async () => {
  const place = makeProject()
  const other = makePlace({ 'a.txt': 'two\n', 'handrail.json': denyReads })
  const server = await startServer(place)
  const elsewhere = { ...place, project: other.project }
  const [own, theirs, asked] = await Promise.all([
    served(place, read(place, 'a.txt'), '--actor', 'ada'),
    served(elsewhere, read(elsewhere, 'a.txt'), '--actor', 'ada'),
    served(place, JSON.stringify({ ...skill, cwd: place.project })),
  ])
  expect([own, theirs, asked].map(decisionOf)).toEqual(['allow', 'deny', 'ask'])
  await stop(server)
  const actors = jsonOf<{ actor: string }[]>(await handrail(place, ['evidence', 'list', '--json'])).map(
    ({ actor }) => actor,
  )
  expect(actors.toSorted()).toEqual(['ada', 'ada', 'user', 'user', 'user'])
  const { code, stdout } = await handrail(place, ['evidence', 'verify'])
  expect([code, stdout]).toEqual([0, expect.stringMatching(/holds: (\d+) records[^]*Signed: \1 records/)])
})

const skill = {
  session_id: 's',
  hook_event_name: 'PreToolUse',
  tool_use_id: 'skill',
  tool_name: 'Skill',
  tool_input: {},
}

test('a server that answered hooks before records the next one in the store that is there by then', async () => {
  const place = makeProject()
  const server = await startServer(place)
  for (const name of ['store.db', 'store.db-wal', 'store.db-shm', 'store.db.key', 'keys'])
    rmSync(join(place.home, name), { recursive: true, force: true })
  expect(decisionOf(await served(place, read(place, 'a.txt')))).toBe('allow')
  const calls = jsonOf<unknown[]>(await handrail(place, ['evidence', 'list', '--json']))
  expect(calls).toHaveLength(1)
  server.child.kill('SIGKILL')
  await server.ended
})

test('a call that a hook began alone is ended by a server, and the other way round', async () => {
  const place = makeProject()
  const after = (id: string): string =>
    JSON.stringify({ ...JSON.parse(read(place, id)), hook_event_name: 'PostToolUse', tool_response: 'done' })
  await hook(place, read(place, 'a.txt'))
  const server = await startServer(place)
  await served(place, after('a.txt'))
  await served(place, read(place, 'b.txt'))
  await stop(server)
  await hook(place, after('b.txt'))
  const ends = jsonOf<{ outcome?: string }[]>(await handrail(place, ['evidence', 'list', '--json']))
  expect(ends.filter(({ outcome }) => outcome === 'ok')).toHaveLength(2)
})
