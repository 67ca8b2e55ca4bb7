import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { call, handrail, makePlace, type Place } from '../support/command-line.ts'

const write = { path: 'a.txt', content: 'a\n' }

/** A person with one command hook: this program, which keeps what it was given in `seen.json`. */
function placeWithHook(source: string, more: Record<string, unknown> = {}): Place & { seen(): unknown } {
  const program = `let text = ''
process.stdin.on('data', (chunk) => (text += chunk)).on('end', () => {
  require('node:fs').writeFileSync(__dirname + '/seen.json', text)
  ${source}
})`
  const place = makePlace({}, { 'hook.cjs': program })
  const hook = { on: 'PreToolUse', command: [process.execPath, join(place.home, 'hook.cjs')], ...more }
  const config = makePlace({}, { 'config.json': { hooks: [hook] } })
  return {
    ...config,
    seen: () => JSON.parse(readFileSync(join(place.home, 'seen.json'), 'utf8')) as unknown,
  }
}

const print = (answer: unknown) => `process.stdout.write(${JSON.stringify(JSON.stringify(answer))})`

test('a hook gets the event as JSON, and its yes is not an approval: the person is still asked (HOOK-1, HOOK-3)', async () => {
  const place = placeWithHook(print({ decision: 'allow', notes: ['looks fine'] }))
  const unasked = await call(place, 'code.write_file', write)
  expect(unasked.code).toBe(3)
  expect(unasked.stderr).toContain('no_callback')
  expect((await call(place, 'code.write_file --approve once', write)).code).toBe(0)
  expect(place.seen()).toMatchObject({
    hook_event_name: 'PreToolUse',
    tool_name: 'code.write_file',
    permission: 'write',
    tool_input: write,
    cwd: place.project,
  })
})

test('a hook that denies stops the call with its reason, whatever the person says (HOOK-2)', async () => {
  const place = placeWithHook(print({ decision: 'deny', reason: 'not on Fridays' }))
  const { code, stderr } = await call(place, 'code.write_file --approve once', write)
  expect(code).toBe(3)
  expect(stderr).toContain('POLICY.HOOK_DENIED (hook_denied)')
  expect(stderr).toContain('not on Fridays')
  expect(existsSync(join(place.project, 'a.txt'))).toBe(false)
})

test.each([
  ['ends with a non-zero exit code', 'process.exit(1)', {}],
  ['allows and ends with a non-zero exit code', `${print({ decision: 'allow' })}; process.exitCode = 1`, {}],
  ['prints no JSON', `process.stdout.write('sure, go on')`, {}],
  ['prints nothing', '', {}],
  ['prints JSON without a decision', print({ ok: true }), {}],
  ['prints a list', print([{ decision: 'allow' }]), {}],
  ['does not end in time', 'setInterval(() => {}, 1000)', { timeoutMs: 1_500 }],
  ['cannot be started', '', { command: ['/no/such/program'] }],
])('a hook that %s denies (HOOK-2, HOOK-3)', async (_, source, more) => {
  const place = placeWithHook(source, more)
  const { code, stderr } = await call(place, 'code.write_file --approve once', write)
  expect(code).toBe(3)
  expect(stderr).toContain('POLICY.HOOK_DENIED (hook_failed)')
  expect(existsSync(join(place.project, 'a.txt'))).toBe(false)
})

test('a hook sees only the tools that it names (HOOK-3)', async () => {
  const place = placeWithHook(print({ decision: 'deny' }), { tools: ['code.run_*'] })
  expect((await call(place, 'code.write_file --approve once', write)).code).toBe(0)
  const command = await call(place, 'code.run_command --approve once', { argv: ['true'] })
  expect(command.stderr).toContain('POLICY.HOOK_DENIED')
})

test('a hook after the call sees its result and cannot change it; its failure is told (HOOK-3)', async () => {
  const place = placeWithHook('process.exit(1)', { on: 'PostToolUse' })
  const { code, stdout, stderr } = await call(place, 'code.write_file --approve once', write)
  expect([code, stdout]).toMatchObject([0, /Created a\.txt/])
  expect(stderr).toMatch(
    /fault code\.write_file call_\w+: PostToolUse hook .* failed: it ended with exit code 1/,
  )
  expect(place.seen()).toMatchObject({
    hook_event_name: 'PostToolUse',
    tool_result: { ok: true, outcome: 'ok', error: null },
  })
})

test('explain says what the hook says (PERM-10)', async () => {
  const place = placeWithHook(print({ decision: 'deny', reason: 'not on Fridays' }))
  const { code, stdout } = await handrail(place, ['explain', 'code.write_file', JSON.stringify(write)])
  expect(code).toBe(3)
  expect(stdout).toMatch(/✗ hook .*not on Fridays/)
})
