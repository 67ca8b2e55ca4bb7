import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { call, handrail, jsonOf, makePlace, startProgram } from '../support/command-line.ts'
import { fixtureTool, makeFixtureServer } from '../support/upstreams.ts'

interface Wire {
  ok: boolean
  text: string
  outcome: string
  error?: { code: string; reason: string; data?: { nearest?: string[] } }
  metadata: { replayed?: boolean }
}

test('a read needs nobody: the text on stdout, exit code 0 (FILE-1, PERM-2)', async () => {
  const place = makePlace({ 'a.txt': 'one\ntwo\n' })
  const { code, stdout, stderr } = await call(place, 'code.read_file', { path: 'a.txt' })
  expect([code, stdout, stderr]).toEqual([0, '1\tone\n2\ttwo\n', ''])
})

test('--json gives the whole result, snake_case (OUT-1)', async () => {
  const place = makePlace({ 'a.txt': 'one\n' })
  const result = await call(place, 'code.read_file --json', { path: 'a.txt' })
  expect(jsonOf(result)).toMatchObject({
    tool: 'code.read_file',
    ok: true,
    is_error: false,
    outcome: 'ok',
    data: { path: 'a.txt', content: 'one\n', total_lines: 1 },
    metadata: { session: expect.stringMatching(/^ses_/) as string },
  })
})

test('says what a call left, where, and what to type to read it as the same caller; --json names the same URI (OUT-1)', async () => {
  const server = makeFixtureServer([fixtureTool('huge')])
  const place = makePlace({}, { 'mcp.json': { mcpServers: { it: server.file } } })
  const argv = ['call', 'mcp.it.huge', '{"megabytes":1}', '--approve', 'once', '--actor', 'bob']
  const { code, stderr } = await handrail(place, argv)
  expect(code, stderr).toBe(0)
  const [, line = ''] =
    /bytes \(text\/plain\) are kept; to read them: (node \S+ call artifact\.read uri=\S+ --actor bob)\n/.exec(
      stderr,
    ) ?? []
  const read = await startProgram(place, ['-c', line], { command: 'sh' }).ended
  expect([read.code, read.stderr]).toEqual([0, ''])
  expect(read.stdout).toMatch(/x{20000}/)
  const told = await handrail(place, [...argv, '--json'])
  expect(told.stderr).toBe('')
  const { artifacts } = jsonOf<{ artifacts: { uri: string; digest: string }[] }>(told)
  expect(artifacts).toHaveLength(1)
  const again = await handrail(place, [
    'call',
    'artifact.read',
    JSON.stringify({ uri: artifacts[0]?.uri }),
    '--actor',
    'bob',
  ])
  expect(again.code, again.stderr).toBe(0)
})

test('the input can come on standard input', async () => {
  const place = makePlace({ 'a.txt': 'piped\n' })
  const argv = ['call', 'code.read_file', '-']
  expect((await handrail(place, argv, { input: '{"path": "a.txt"}\n' })).stdout).toContain('piped')
  const bad = await handrail(place, argv, { input: '{"path": ' })
  expect([bad.code, bad.stdout]).toEqual([2, ''])
  expect(bad.stderr).toContain('handrail: invalid_usage: Standard input is not valid JSON')
})

test('a tool that fails is exit code 1, its error on stderr with code and reason (CALL-5)', async () => {
  const place = makePlace()
  const missing = await call(place, 'code.read_file', { path: 'no.txt' })
  expect([missing.code, missing.stdout]).toEqual([1, ''])
  expect(missing.stderr).toContain('TOOL.FAILED (file_not_found)')
  const command = await call(place, 'code.run_command --approve once', { argv: ['sh', '-c', 'exit 7'] })
  expect(command.code).toBe(1)
  expect(command.stderr).toContain('TOOL.FAILED (exit_code)')
})

test('--approve once answers for the person; deny is exit code 3 (PERM-3)', async () => {
  const place = makePlace()
  const write = { path: 'a.txt', content: 'a\n' }
  const denied = await call(place, 'code.write_file --approve deny', write)
  expect(denied.code).toBe(3)
  expect(denied.stderr).toContain('POLICY.APPROVAL_DENIED (denied)')
  expect(existsSync(join(place.project, 'a.txt'))).toBe(false)
  const written = await call(place, 'code.write_file --approve once', write)
  expect(written.code).toBe(0)
  expect(readFileSync(join(place.project, 'a.txt'), 'utf8')).toBe('a\n')
})

test('no approval lets a call out of its roots (FILE-9)', async () => {
  const place = makePlace()
  const path = join(place.user, 'a.txt')
  const { code, stderr } = await call(place, 'code.write_file --approve once', { path, content: 'a' })
  expect(code).toBe(3)
  expect(stderr).toContain('SANDBOX.CAPABILITY_BLOCKED (write_outside_allowed_roots)')
  expect(existsSync(path)).toBe(false)
})

test('plan mode has no writes, and a rule of the policy denies (PERM-8, PERM-9)', async () => {
  const rule = {
    id: 'no-secrets',
    effect: 'deny',
    resources: ['handrail:file:**/secrets/**'],
    reason: 'private',
  }
  const place = makePlace({ 'secrets/a.txt': 'x' }, { 'policy.json': { rules: [rule] } })
  const write = { path: 'a.txt', content: 'a' }
  const planned = await call(place, 'code.write_file --mode plan --approve once', write)
  expect([planned.code, existsSync(join(place.project, 'a.txt'))]).toEqual([3, false])
  expect(planned.stderr).toContain('POLICY.DENY_TOOL (mode_denied)')
  const ruled = await call(place, 'code.read_file', { path: 'secrets/a.txt' })
  expect(ruled.code).toBe(3)
  expect(ruled.stderr).toContain('POLICY.DENY_TOOL (rule_denied)')
  expect(ruled.stderr).toContain('private')
})

test('--presentation compatible takes the names and inputs that models know', async () => {
  const place = makePlace({ 'a.txt': 'compatible\n' })
  const input = { file_path: join(place.project, 'a.txt') }
  expect((await call(place, 'Read --presentation compatible', input)).stdout).toContain('compatible')
  expect((await call(place, 'Read', input)).code).toBe(3)
})

test('the same key gives the same result and one effect; with another input it is refused (CALL-4)', async () => {
  const place = makePlace()
  const line = (text: string) => ({ argv: ['sh', '-c', `echo ${text} | tee -a log.txt`] })
  const keyed = (text: string, key: string) =>
    call(place, `code.run_command --approve once --key ${key} --json`, line(text))
  const first = jsonOf<Wire>(await keyed('x', 'k1'))
  const again = jsonOf<Wire>(await keyed('x', 'k1'))
  expect(first).toMatchObject({ ok: true })
  expect(again).toMatchObject({ ok: true, text: first.text, metadata: { replayed: true } })
  expect(readFileSync(join(place.project, 'log.txt'), 'utf8')).toBe('x\n')
  const other = await keyed('y', 'k1')
  expect([other.code, jsonOf<Wire>(other).error]).toMatchObject([
    1,
    { code: 'IDEMPOTENCY.CONFLICT', reason: 'same_key_other_input' },
  ])
  await keyed('x', 'k2')
  expect(readFileSync(join(place.project, 'log.txt'), 'utf8')).toBe('x\nx\n')
})

test('two processes with the same key at the same time have one effect (CALL-4)', async () => {
  const place = makePlace()
  const input = { argv: ['sh', '-c', 'echo x >> log.txt'] }
  const both = await Promise.all(
    [1, 2].map(() => call(place, 'code.run_command --approve once --key k --json', input)),
  )
  expect(both.map((each) => each.code)).toEqual([0, 0])
  expect(both.filter((each) => jsonOf<Wire>(each).metadata.replayed === true)).toHaveLength(1)
  expect(readFileSync(join(place.project, 'log.txt'), 'utf8')).toBe('x\n')
})

test('a secret in the output is redacted (OUT-4)', async () => {
  const token = `ghp_${'a1B2'.repeat(9)}`
  const place = makePlace({ 'a.txt': `token ${token}\n` })
  const { stdout } = await call(place, 'code.read_file', { path: 'a.txt' })
  expect(stdout).toContain('[redacted]')
  expect(stdout).not.toContain(token)
  expect(readFileSync(place.store).includes(token)).toBe(false)
})
