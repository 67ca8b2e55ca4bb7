import { expect, test } from 'vitest'
import type { UpstreamServer, UpstreamTransport } from '../../../contract/mcp/upstream.ts'
import { describePlace } from './describe-place.ts'

function place(transport: UpstreamTransport, hosts: readonly string[] = []): string[] {
  const server: UpstreamServer = {
    name: 'it',
    transport,
    hosts,
    timeoutMs: undefined,
    tools: { allow: ['*'], deny: [], readonly: [] },
    tenants: undefined,
    credentials: {},
    sampling: false,
  }
  return describePlace(server)
}

function program(args: readonly string[], more: { cwd?: string; read?: string[]; write?: string[] } = {}) {
  const { cwd, read = [], write = [] } = more
  return {
    kind: 'stdio',
    command: 'npx',
    args,
    env: { KEY: 'in-the-environment' },
    cwd,
    read,
    write,
  } as const
}

test('a program is shown as its operator wrote it, with its folders and hosts (MCP-1)', () => {
  const whole = program(['-y', 'a server', '/srv/docs'], {
    read: ['~/docs', '/srv/out'],
    write: ['/srv/out'],
  })
  expect(place(whole, ['a.example', '*.b.example'])).toEqual([
    `runs npx -y 'a server' /srv/docs`,
    '  sees the project, ~/docs',
    '  writes to /srv/out',
    '  reaches a.example, *.b.example',
  ])
  expect(place(program([], { cwd: '/srv' }), ['*'])).toEqual([
    'runs npx',
    '  sees /srv',
    '  reaches any host',
  ])
  expect(place(program([], { write: ['project'] }))).toEqual([
    'runs npx',
    '  writes to the project',
    '  reaches no network',
  ])
})

test.each([
  [['--api-key', 'hunter2'], '--api-key [redacted]'],
  [['--token=hunter2', '--verbose'], '--token=[redacted] --verbose'],
  [['-e', 'DB_PASSWORD=hunter2'], '-e DB_PASSWORD=[redacted]'],
  [['--header', 'Authorization: Bearer hunter2'], '--header Authorization: [redacted]'],
  [['--pass', 'hunter2'], '--pass [redacted]'],
  [['--pass=hunter2'], '--pass=[redacted]'],
  [['--passphrase', 'hunter2'], '--passphrase [redacted]'],
  [['--github-pat', 'hunter2'], '--github-pat [redacted]'],
  [['-e', 'MYSQL_PASS=hunter2&3'], '-e MYSQL_PASS=[redacted]'],
  [['--token', '-hunter2'], '--token [redacted]'],
  [['--token', '--Hunter2='], '--token [redacted]'],
  [['--header', 'X-Upstream: Bearer hunter2'], '--header X-Upstream: Bearer [redacted]'],
  [['https://x.example/?sig=hunter2&code=hunter3'], 'https://x.example/…'],
  [['mcp-remote', 'https://x.example:8443/s/hunter2/mcp'], 'mcp-remote https://x.example:8443/…'],
  [['--url=https://x.example/s/hunter2'], '--url=https://x.example/…'],
  [['postgres://me:hunter2@db/x'], 'postgres://db/…'],
  [['postgres://me:hunter/2@db/x'], 'postgres://…'],
  [['https://x.example', '--path', '/srv/passes'], 'https://x.example --path /srv/passes'],
  [['ghp_0123456789abcdefghijABCDEFGHIJ012345'], '[redacted]'],
  [['--tokens', '--port', '80'], '--tokens --port 80'],
])('a secret among its arguments is not shown: %j (MCP-1)', (args, shown) => {
  const [first = ''] = place(program(args))
  expect(first.replaceAll("'", '')).toBe(`runs npx ${shown}`)
})

test('a long line is shortened, and nothing in it drives a terminal or hides', () => {
  const [first = ''] = place(program(['x'.repeat(1_000), '\u001b[2J']))
  expect(first).toHaveLength('runs '.length + 300 + 1)
  const shown = place(program(['\u001b[2J\u202e'], { read: ['/a\u202eb'] })).join('\n')
  for (const letter of ['\u001b', '\u202e']) expect(shown).not.toContain(letter)
})

test('an address is shown by its host alone: the rest may be a credential', () => {
  const http = { kind: 'http', headers: { Authorization: 'Bearer hunter2' }, login: undefined } as const
  expect(place({ ...http, url: 'https://me:hunter2@x.example:8443/s/hunter3/mcp?key=hunter2' })).toEqual([
    'at https://x.example:8443/…',
  ])
})
