import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime, type Preflight } from 'handrail'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { call, handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'
import { gatedTool } from '../support/gated-tool.ts'

/** A tool and options in one line, and the input as a value. */
function explain(place: Place, line: string, input: unknown) {
  const [tool = '', ...options] = line.split(' ')
  return handrail(place, ['explain', tool, JSON.stringify(input), ...options])
}

test('shows each step, the decision with its layer and rule, the profile and the preview, and touches nothing (CALL-1, PERM-10)', async () => {
  const place = makePlace({ 'a.txt': 'old\n' })
  const input = { path: 'a.txt', content: 'new\n', overwrite: true }
  const { code, stdout, stderr } = await explain(place, 'code.write_file', input)
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^code\.write_file: ask\n/)
  expect(stdout.match(/^ {2}([✓?]) [a-z-]+/gm)).toEqual([
    '  ✓ find',
    '  ✓ check-input',
    '  ✓ authorise',
    '  ✓ plan',
    '  ✓ hook',
    '  ? approve',
  ])
  expect(stdout).toContain('decided by defaults/write: ask')
  expect(stdout).toContain('without defaults/write: allow, by defaults/nothing-asks')
  expect(stdout).toMatch(/profile [\w-]{43}/)
  expect(stdout).toContain(`writes     ${place.project}`)
  expect(stdout).toContain('  | -old\n  | +new\n')
  expect(readFileSync(join(place.project, 'a.txt'), 'utf8')).toBe('old\n')
  expect([existsSync(place.home), readdirSync(place.project)]).toEqual([false, ['a.txt']])
})

test('names the rule of the policy that decides, for yes and for no (PERM-10)', async () => {
  const place = makePlace(
    { 'docs/a.md': '', 'legal/b.md': '' },
    {
      'policy.json': {
        rules: [
          {
            id: 'docs',
            effect: 'allow',
            tools: ['code.write_file'],
            resources: ['handrail:file:{project}/docs/**'],
          },
          { id: 'legal', effect: 'deny', resources: ['handrail:file:{project}/legal/**'], reason: 'by hand' },
        ],
      },
    },
  )
  const write = (path: string) => ({ path, content: 'x', overwrite: true })
  const allowed = await explain(place, 'code.write_file --json', write('docs/a.md'))
  expect(allowed.code).toBe(0)
  expect(jsonOf<Preflight>(allowed)).toMatchObject({
    effect: 'allow',
    decision: { effect: 'allow', layer: 'policy', rule: 'docs' },
    profileHash: expect.stringMatching(/^[\w-]{43}$/) as string,
    preview: { kind: 'diff' },
    budget: { calls: { used: 0, limit: null } },
  })
  const denied = await explain(place, 'code.write_file', write('legal/b.md'))
  expect(denied.code).toBe(3)
  expect(denied.stdout).toContain('POLICY.DENY_TOOL (rule_denied)')
  expect(denied.stdout).toContain('decided by policy/legal: deny – by hand')
})

test('says where a call stops and does not go on from there (CALL-1)', async () => {
  const place = makePlace()
  const unknown = await explain(place, 'code.wrte_file', {})
  expect(unknown.code).toBe(3)
  expect(unknown.stdout).toContain('✗ find         POLICY.DENY_TOOL (tool_not_available)')
  expect(unknown.stdout).toContain('"code.write_file"')
  const invalid = await explain(place, 'code.write_file --json', { path: 1 })
  expect(invalid.code).toBe(1)
  expect(jsonOf<Preflight>(invalid)).toMatchObject({
    effect: 'deny',
    error: { code: 'SCHEMA.VALIDATION_FAILED', issues: [{ pointer: '/path' }, { pointer: '/content' }] },
    steps: [
      { outcome: 'passed' },
      { step: 'check-input', outcome: 'stopped' },
      { outcome: 'not_reached' },
      {},
      {},
      {},
    ],
  })
  const outside = await explain(place, 'code.write_file', { path: `${place.user}/x`, content: '' })
  expect([outside.code, existsSync(join(place.user, 'x'))]).toEqual([3, false])
  expect(outside.stdout).toContain('✗ plan         SANDBOX.CAPABILITY_BLOCKED')
})

test('the mode and the role of the session count (PERM-9)', async () => {
  const place = makePlace({ 'a.txt': 'a' })
  const planned = await explain(place, 'code.write_file --mode plan', { path: 'b', content: '' })
  expect(planned.code).toBe(3)
  expect(planned.stdout).toContain('mode_denied')
  const edited = await explain(place, 'code.write_file --mode accept-edits', { path: 'b', content: '' })
  expect(edited.stdout).toMatch(/^code\.write_file: allow/)
})

test('explains for a tenant and an actor, with what is left of their budgets and what is owed (PERM-10, AUTH-4, OUT-3)', async () => {
  const place = makePlace(
    { 'a.txt': 'a' },
    {
      'policy.json': {
        tenants: { acme: {} },
        grants: [{ id: 'ann', tenants: ['acme'], actors: ['ann'] }],
        budgets: [{ id: 'two', unit: 'calls', limit: 2, windowMs: 9_007_199_254_740_991 }],
        obligations: [{ id: 'mark', action: 'watermark', text: 'for {actor}' }],
      },
    },
  )
  const line = 'code.read_file --tenant acme --actor'
  const ben = await explain(place, `${line} ben`, { path: 'a.txt' })
  expect([ben.code, ben.stdout]).toEqual([3, expect.stringContaining('AUTH.FORBIDDEN (no_grant)')])
  const first = await explain(place, `${line} ann`, { path: 'a.txt' })
  expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('budget two: 0 of 2 calls spent')])
  expect(first.stdout).toMatch(/^obligations .*mark/m)
  for (const _ of [1, 2]) expect((await call(place, `${line} ann`, { path: 'a.txt' })).code).toBe(0)
  const spent = await explain(place, `${line} ann`, { path: 'a.txt' })
  expect([spent.code, spent.stdout]).toEqual([3, expect.stringContaining('QUOTA.BUDGET_EXCEEDED (calls)')])
})

test('what is held of a large budget is said to be for calls to come too, of a small one it is what the calls that run hold (AUTH-4)', async () => {
  const budgets = [
    { id: 'large', unit: 'calls' as const, limit: 1_000_000 },
    { id: 'small', unit: 'calls' as const, limit: 100 },
  ]
  const place = makePlace({ 'a.txt': 'a' }, { 'policy.json': { budgets } })
  const gated = gatedTool()
  const { project, home, store } = place
  const runtime = await createRuntime({
    project,
    home,
    tools: [gated.tool],
    store: { path: store },
    policy: { budgets },
  })
  atEnd(() => runtime.close())
  const running = runtime.session().call('t.gated', { id: 'one' })
  await gated.started('one')
  const { stdout } = await explain(place, 'code.read_file', { path: 'a.txt' })
  expect(stdout).toContain(
    'budget large: 0 of 1000000 calls spent, 65 held for calls that run or come next\n',
  )
  expect(stdout).toContain('budget small: 0 of 100 calls spent, 1 held for calls that run or come next\n')
  gated.release('one')
  expect((await running).ok).toBe(true)
})

test('a consent that is named answers, or is told to be none; a call that would fail is told as failing (PERM-10, AUTH-3)', async () => {
  const place = makePlace({ 'a.txt': 'a' })
  const give = ['consent', 'give', 'code.write_file', '--actor', 'ann', '--json']
  const [consent] = jsonOf<{ id: string }[]>(await handrail(place, give))
  const line = `code.write_file --actor ann --consent ${consent?.id ?? ''}`
  const allowed = await explain(place, line, { path: 'b.txt', content: '' })
  expect([allowed.code, allowed.stdout]).toEqual([
    0,
    expect.stringMatching(/^code\.write_file: allow\n[^]*decided by consent\/standing-consent: allow/),
  ])
  for (const [actor, id, reason] of [
    ['ben', consent?.id, 'consent_missing'],
    ['ann', 'consent_none', 'consent_missing'],
  ] as const) {
    const named = `code.write_file --actor ${actor} --consent ${id}`
    const refused = await explain(place, named, { path: 'b.txt', content: '' })
    expect([refused.code, refused.stdout]).toEqual([
      3,
      expect.stringContaining(`AUTH.CONSENT_REQUIRED (${reason})`),
    ])
  }
  const failing = await explain(place, 'code.write_file', { path: 'a.txt', content: '' })
  expect([failing.code, failing.stdout]).toEqual([1, expect.stringContaining('TOOL.FAILED (path_conflict)')])
  const outsider = await explain(place, 'code.read_file --tenant a/b', { path: 'a.txt' })
  expect([outsider.code, outsider.stderr]).toEqual([2, expect.stringContaining('"a/b" is not an id')])
})

test('with a key it says whose result the call would get, and what decides about that now (CALL-1, CALL-4)', async () => {
  const place = makePlace()
  const input = { path: 'a.txt', content: 'a' }
  const line = 'code.write_file --key write-a'
  await call(place, `${line} --approve once`, input)
  const kept = jsonOf<Preflight>(await explain(place, `${line} --json`, input))
  expect(kept).toMatchObject({ effect: 'allow', keptFrom: expect.stringMatching(/^call_/) as string })
  const { code, stdout } = await explain(place, line, input)
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining(`the result of ${kept.keptFrom} is kept under its key, so nothing would run`),
  ])
  const other = jsonOf<Preflight>(
    await explain(place, `${line} --actor bob --json`, { path: 'b.txt', content: 'a' }),
  )
  expect([other.effect, other.keptFrom]).toEqual(['ask', undefined])
  const conflict = await explain(place, line, { ...input, content: 'b' })
  expect([conflict.code, conflict.stdout]).toEqual([1, expect.stringContaining('same_key_other_input')])
})
