import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { findRemedy } from './find-remedy.ts'
import { createServerLog } from './server-log.ts'

function remedyFor(
  [command = '', ...args]: readonly string[],
  said: string,
  fetch?: readonly string[],
): string | undefined {
  const folders = { cwd: undefined, read: [], write: [] } as const
  const program = { kind: 'stdio', command, args, env: {}, fetch, ...folders } as const
  const server: UpstreamServer = {
    name: 'it',
    transport: program,
    hosts: [],
    timeoutMs: undefined,
    tools: { allow: ['*'], deny: [], readonly: [] },
    sampling: false,
    tenants: undefined,
    credentials: {},
  }
  const log = createServerLog()
  log.add(said)
  return findRemedy({ server, log, roots: [], fetches: true }, program)
}

test('a path that only its program names is named, and is not a reason to show it (MCP-1)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-remedy-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of ['keys', 'data']) mkdirSync(join(folder, name))
  const key = join(folder, 'keys', 'id_rsa')
  writeFileSync(key, '')
  const remedy = remedyFor(['it', join(folder, 'data')], `ENOENT: no such file, open '${key}'\n`)
  expect(remedy).toContain(`"${key}"`)
  expect(remedy).toContain(`"read": ["${join(folder, 'data')}"]`)
  const alone = remedyFor(['it'], `ENOENT: no such file, open '${key}'\n`)
  expect(alone).toContain(`"${key}"`)
  expect(alone).not.toContain('"read"')
})

test('what is fetched from elsewhere than a registry needs the network, and what may not be fetched is told so (MCP-1)', () => {
  for (const argv of [
    ['npx', '-y', 'github:a/b'],
    ['uvx', '--from', 'git+https://a.example/b', 'run'],
  ] as const) {
    expect(remedyFor(argv, '', [])).toContain('  "network": true')
    const closed = remedyFor(argv, '')
    expect(closed).toContain('Take "fetch": false out')
    expect(closed).not.toContain('"network"')
  }
})
