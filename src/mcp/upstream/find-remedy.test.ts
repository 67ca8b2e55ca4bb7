import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { UpstreamServer } from '../../contract/upstream.ts'
import { findRemedy } from './find-remedy.ts'
import { createServerLog } from './server-log.ts'

function remedyFor(command: string, args: readonly string[], said: string): string | undefined {
  const program = { kind: 'stdio', command, args, env: {}, cwd: undefined, read: [], write: [] } as const
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
  return findRemedy({ server, log, roots: [] }, program)
}

test('a path that only its program names is named, and is no reason to show it (MCP-1)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-remedy-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of ['keys', 'data']) mkdirSync(join(folder, name))
  const key = join(folder, 'keys', 'id_rsa')
  writeFileSync(key, '')
  const remedy = remedyFor('it', [join(folder, 'data')], `ENOENT: no such file, open '${key}'\n`)
  expect(remedy).toContain(`"${key}"`)
  expect(remedy).toContain(`"read": ["${join(folder, 'data')}"]`)
  const alone = remedyFor('it', [], `ENOENT: no such file, open '${key}'\n`)
  expect(alone).toContain(`"${key}"`)
  expect(alone).not.toContain('"read"')
})

test.each([
  ['npx', 'npm_config_cache'],
  ['yarn', 'YARN_CACHE_FOLDER'],
  ['pnpm', 'XDG_CACHE_HOME'],
  ['bunx', 'BUN_INSTALL_CACHE_DIR'],
  ['uvx', 'UV_CACHE_DIR'],
  ['pipx', 'PIPX_HOME'],
])('%s is told its own variable for what it fetched, %s (MCP-1)', (command, variable) => {
  expect(remedyFor(command, ['some-server'], '')).toContain(`in "env" as "${variable}"`)
})
