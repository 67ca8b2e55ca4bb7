import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { codeTools, createRuntime, type Preflight, type Runtime, type RuntimeOptions } from 'handrail'
import type { CallExplanation } from 'handrail/replay'
import { expect, onTestFinished, test, vi } from 'vitest'
import { call, handrail, jsonOf, makePlace, startHandrail, type Place } from '../support/command-line.ts'
import { makeTool } from '../support/make-tool.ts'

/** Makes a call at the command line. Returns its id. */
async function made(place: Place, line: string, input: unknown): Promise<string> {
  const result = jsonOf<{ tool_call_id: string }>(await call(place, `${line} --json`, input))
  return result.tool_call_id
}

const explain = (place: Place, id: string, ...more: string[]) =>
  handrail(place, ['explain', '--call', id, ...more])

/** What explains a call that must be there. */
async function explained(place: Place, id: string, ...more: string[]): Promise<CallExplanation> {
  const ended = await explain(place, id, '--json', ...more)
  expect([ended.code, ended.stderr]).toEqual([0, ''])
  return jsonOf<CallExplanation & Record<string, unknown>>(ended)
}

/** A runtime of the library on the store of the place, with the policy that lies there. */
async function openAt(place: Place, options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = await createRuntime({
    project: place.project,
    home: place.user,
    tools: [codeTools()],
    sensitivePaths: [place.home],
    store: { path: place.store },
    ...options,
  })
  onTestFinished(() => runtime.close())
  return runtime
}

const write = (path: string) => ({ path, content: 'x' })
const policy = {
  rules: [
    {
      id: 'docs',
      effect: 'allow',
      tools: ['code.write_file'],
      resources: ['handrail:file:{project}/docs/**'],
    },
    { id: 'legal', effect: 'deny', resources: ['handrail:file:{project}/legal/**'], reason: 'by hand' },
  ],
}

test('a call that a rule let through: who, what, when, which rule, every layer, and that it would be so again (PERM-10)', async () => {
  const place = makePlace({}, { 'policy.json': policy })
  const id = await made(place, 'code.write_file --actor ann', { ...write('docs/a.md'), overwrite: true })
  const before = readFileSync(place.store)
  const { code, stdout, stderr } = await explain(place, id)
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(new RegExp(`^${id} code\\.write_file\n`))
  expect(stdout).toMatch(/^ {2}at {10}\d{4}-\d\d-\d\dT[\d:.]+Z, ended \d+ ms later$/m)
  expect(stdout).toContain('by          "ann" of tenant "local" as main in mode default, origin api\n')
  expect(stdout).toMatch(/^ {2}session {5}ses_\w+$/m)
  expect(stdout).toMatch(/^ {2}definition {2}1\.0\.0 [\w-]{43}$/m)
  expect(stdout).toMatch(/^ {2}policy {6}[\w-]{43}$/m)
  expect(stdout).toContain('"path":"docs/a.md"')
  expect(stdout).toContain(`would reach fs.write ${join(place.project, 'docs/a.md')}\n`)
  expect(stdout).toContain('decision    allow by policy/docs\n')
  expect(stdout).toContain('end         ok\n')
  expect(stdout).toContain('Now, under the same policy, the same is decided.\n')
  expect(stdout).toContain('decided by policy/docs: allow')
  expect(stdout).toContain('also defaults/write: ask')
  expect(stdout).toContain('without policy/docs: ask, by defaults/write')
  expect(readFileSync(place.store).equals(before)).toBe(true)
})

interface Case {
  title: string
  line: string
  input: unknown
  /** What the evidence has. */
  begin: Record<string, unknown>
  end: Record<string, unknown>
  /** What the page says. */
  page: readonly string[]
  /** Why it cannot be decided again. */
  obstacle?: string
}

const cases: readonly Case[] = [
  {
    title: 'denied by a rule',
    line: 'code.write_file',
    input: write('legal/a.md'),
    begin: { decision: { effect: 'deny', layer: 'policy', rule: 'legal' } },
    end: { outcome: 'denied', code: 'POLICY.DENY_TOOL', reason: 'rule_denied' },
    page: ['decision    deny by policy/legal', '"code.write_file" is denied here: by hand.'],
  },
  {
    title: 'of an unknown tool',
    line: 'code.no_such',
    input: {},
    begin: { definition: '' },
    end: { code: 'POLICY.DENY_TOOL', reason: 'tool_not_available' },
    page: ['definition  none', 'decision    none', 'There is no tool "code.no_such" here.'],
  },
  {
    title: 'of a tool that the mode leaves out',
    line: 'code.write_file --mode plan',
    input: write('docs/a.md'),
    begin: { mode: 'plan', definition: '' },
    end: { code: 'POLICY.DENY_TOOL', reason: 'mode_denied' },
    page: ['in mode plan', '✗ find         POLICY.DENY_TOOL (mode_denied)'],
  },
  {
    title: 'outside of the bounds',
    line: 'code.write_file',
    input: write('../a.md'),
    begin: {},
    end: { code: 'SANDBOX.CAPABILITY_BLOCKED', reason: 'write_outside_allowed_roots' },
    page: ['decision    none', '✗ plan         SANDBOX.CAPABILITY_BLOCKED'],
  },
  {
    title: 'that a person approved',
    line: 'code.write_file --approve once',
    input: { ...write('a.md'), overwrite: true },
    begin: { decision: { effect: 'ask' }, approval: { decision: 'allow_once' } },
    end: { outcome: 'ok' },
    page: ['decision    ask by defaults/write', 'answer      allow_once by command line, to the preview '],
  },
  {
    title: 'that a person denied',
    line: 'code.write_file --approve deny',
    input: write('b.md'),
    begin: { decision: { effect: 'ask' } },
    end: { code: 'POLICY.APPROVAL_DENIED', reason: 'denied' },
    page: ['end         denied, POLICY.APPROVAL_DENIED (denied)', '? approve'],
  },
  {
    title: 'that nobody could be asked about',
    line: 'code.read_file --role worker',
    input: { path: '.env' },
    begin: { role: 'worker', decision: { effect: 'ask', rule: 'sensitive-path' } },
    end: { code: 'POLICY.APPROVAL_DENIED', reason: 'no_callback' },
    page: ['as worker in mode default', 'decision    ask by defaults/sensitive-path'],
  },
  {
    title: 'that failed while it was planned',
    line: 'code.write_file',
    input: write('a.txt'),
    begin: {},
    end: { outcome: 'failed', code: 'TOOL.FAILED', reason: 'path_conflict' },
    page: ['end         failed, TOOL.FAILED (path_conflict)', '✗ plan         TOOL.FAILED (path_conflict)'],
  },
  {
    title: 'that failed while it ran',
    line: 'code.run_command --approve once',
    input: { argv: ['false'] },
    begin: { decision: { effect: 'ask', rule: 'dangerous' } },
    end: { outcome: 'failed' },
    page: ['answer      allow_once by command line', 'would reach process /'],
  },
  {
    title: 'with a secret in its input',
    line: 'code.write_file --approve once',
    input: { path: 's.txt', content: `token ghp_${'a1B2'.repeat(9)}` },
    begin: { decision: { effect: 'ask' } },
    end: { outcome: 'ok' },
    page: ['"content":"token [redacted]"'],
  },
  {
    title: 'whose input did not fit',
    line: 'code.write_file',
    input: { path: 1 },
    begin: { input: '' },
    end: { outcome: 'failed', code: 'SCHEMA.VALIDATION_FAILED' },
    page: ['input       (not kept)', 'The input does not fit "code.write_file"'],
    obstacle: 'its input or its key did not fit the tool, and what does not fit is not kept',
  },
]

test.each(cases)('a call $title (PERM-10)', async ({ line, input, begin, end, page, obstacle }) => {
  const place = makePlace({ 'a.txt': 'a', '.env': 'X=1' }, { 'policy.json': policy })
  const id = await made(place, line, input)
  const found = await explained(place, id)
  expect(found).toMatchObject({ begin: { call: id, ...begin }, end, differences: [] })
  const { stdout } = await explain(place, id)
  for (const part of page) expect(stdout).toContain(part)
  if (obstacle === undefined) {
    expect(found.now).toHaveProperty('preflight')
    expect(stdout).toContain('Now, under the same policy, the same is decided.')
  } else {
    expect(found.now).toEqual({ obstacle })
    expect(stdout).toContain(`cannot be told: ${obstacle}.`)
  }
})

test('under another policy, what is decided otherwise is told, in the order of the steps (PERM-10)', async () => {
  const place = makePlace({}, { 'policy.json': policy })
  const id = await made(place, 'code.write_file', write('legal/a.md'))
  const { begin } = await explained(place, id)
  writeFileSync(join(place.home, 'policy.json'), '{}')
  const found = await explained(place, id)
  expect(found.differences).toEqual([
    { what: 'decision', recorded: 'deny by policy/legal', now: 'ask by defaults/write' },
  ])
  const { stdout } = await explain(place, id)
  expect(stdout).toContain(`policy      ${begin.policy}\n`)
  expect(stdout).toMatch(/^Now, under another policy \([\w-]{43}\), this is another:$/m)
  expect(stdout).toContain('decision    recorded  deny by policy/legal\n')
  expect(stdout).toContain('now       ask by defaults/write\n')
  expect(stdout).toContain('decided by defaults/write: ask')

  const allowed = await made(place, 'code.write_file --approve once', write('docs/b.md'))
  const now = { rules: [{ id: 'shut', effect: 'deny', tools: ['code.write_file'] }] }
  writeFileSync(join(place.home, 'policy.json'), JSON.stringify(now))
  expect((await explained(place, allowed)).differences).toEqual([
    { what: 'decision', recorded: 'ask by defaults/write', now: 'deny by policy/shut' },
    { what: 'outcome', recorded: 'no error', now: 'POLICY.DENY_TOOL (rule_denied)' },
  ])
})

test('a call that found no tool it could use, and would find it now, is told too (PERM-10)', async () => {
  const place = makePlace({ 'a.txt': 'a' }, { 'config.json': { disallowedTools: ['code.read_file'] } })
  const left = await made(place, 'code.read_file', { path: 'a.txt' })
  const worker = await made(place, 'code.write_file --role worker', write('b'))
  expect((await explained(place, left)).differences).toEqual([])
  writeFileSync(join(place.home, 'config.json'), '{}')
  expect((await explained(place, left)).now).toEqual({
    obstacle: 'whether its session itself left its tool out is not in the evidence',
  })
  expect(await explained(place, worker)).toMatchObject({
    now: { preflight: { effect: 'deny' } },
    differences: [],
  })

  await handrail(place, ['tools', 'pause', 'code.glob'])
  const paused = await made(place, 'code.glob', { pattern: '*' })
  expect((await explained(place, paused)).differences).toEqual([])
  await handrail(place, ['tools', 'enable', 'code.glob'])
  expect(await explained(place, paused)).toMatchObject({
    now: { obstacle: 'its tool can be used now, and what it was called with is not in the evidence' },
    differences: [{ what: 'outcome', recorded: 'POLICY.DENY_TOOL (paused)', now: 'its tool can be used' }],
  })
})

test('a yes for the session is told with the call that got it (PERM-10, PERM-4)', async () => {
  const place = makePlace()
  const runtime = await openAt(place, {
    approve: async () => ({ decision: 'allow_for_session', reason: 'go on' }),
  })
  const session = runtime.session()
  const first = await session.call('code.write_file', write('a.txt'))
  const second = await session.call('code.write_file', write('b.txt'))
  await runtime.close()
  expect((await explain(place, first.callId)).stdout).toMatch(
    /answer {6}allow_for_session by the person, to the preview [\w-]{43} – go on\n/,
  )
  expect(await explained(place, second.callId)).toMatchObject({
    begin: { decision: { effect: 'allow', layer: 'session-approval' }, consent: first.callId },
    grantedBy: { call: first.callId },
    now: { preflight: { effect: 'allow', decision: { layer: 'session-approval' } } },
    differences: [],
  })
  const { stdout } = await explain(place, second.callId)
  expect(stdout).toContain(`answer      the yes for the session that was given to ${first.callId}, 2`)
  expect(stdout).toContain('decided by session-approval/session: allow')
  expect(stdout).toContain('without session-approval/session: ask, by defaults/write')
})

test('a standing consent is told with who gave it, also when it was revoked since (PERM-10, AUTH-3)', async () => {
  const place = makePlace()
  const give = ['consent', 'give', 'code.write_file', '--for', '1h', '--reason', 'release', '--json']
  const [consent] = jsonOf<{ id: string; givenBy: string }[]>(await handrail(place, give))
  const id = consent?.id ?? ''
  const covered = await made(place, 'code.write_file', write('a.txt'))
  const named = await made(place, `code.write_file --consent ${id}`, write('b.txt'))
  const refused = await made(place, 'code.write_file --consent consent_none', write('c.txt'))
  for (const each of [covered, named]) {
    expect(await explained(place, each)).toMatchObject({
      begin: { decision: { effect: 'allow', layer: 'consent' }, consent: id },
      consent: { id, reason: 'release' },
      differences: [],
    })
    const { stdout } = await explain(place, each)
    expect(stdout).toMatch(
      new RegExp(
        `answer {6}the consent ${id} \\(\\*\\) that ${consent?.givenBy} gave 2.*Z, until 2.*Z – release\n`,
      ),
    )
    expect(stdout).toContain('without consent/')
  }
  expect(await explained(place, refused)).toMatchObject({
    end: { code: 'AUTH.CONSENT_REQUIRED', reason: 'consent_missing' },
    now: { preflight: { error: { reason: 'consent_missing' } } },
    differences: [],
  })
  await handrail(place, ['consent', 'revoke', id])
  const { stdout } = await explain(place, covered)
  expect(stdout).toMatch(/answer {6}the consent .*, revoked 2.*Z – release\n/)
  expect(stdout).toContain('the same is decided')
})

test('the version of the policy is told where it changed while a process ran (PERM-10, AUTH-5)', async () => {
  const place = makePlace({ 'a.txt': 'a' })
  const runtime = await openAt(place)
  await runtime.reload({ policy: { rules: [{ id: 'shut', effect: 'deny', tools: ['code.read_file'] }] } })
  const denied = await runtime.session().call('code.read_file', { path: 'a.txt' })
  const policyDigest = runtime.policyDigest
  await runtime.close()
  expect((await explain(place, denied.callId)).stdout).toContain(`policy      ${policyDigest}, version 2\n`)
  expect(await explained(place, denied.callId)).toMatchObject({
    policyVersion: 2,
    differences: [{ what: 'decision' }],
  })
})

test('a call whose bodies were pruned is explained from its records (PERM-10, EVID-7)', async () => {
  const place = makePlace({}, { 'policy.json': policy })
  const id = await made(place, 'code.write_file', write('legal/a.md'))
  const pruned = await handrail(place, ['evidence', 'prune', '--older-than', '1ms'])
  expect(pruned.code).toBe(0)
  const found = await explained(place, id)
  expect(found).toMatchObject({
    begin: { decision: { effect: 'deny', layer: 'policy', rule: 'legal' } },
    end: { reason: 'rule_denied' },
    operations: [],
    now: { obstacle: 'its body was pruned' },
    differences: [],
  })
  expect(found.input).toBeUndefined()
  const { stdout } = await explain(place, id)
  expect(stdout).toContain('input       (not kept)')
  expect(stdout).toContain('cannot be told: its body was pruned.')
})

test('a call of another tenant is explained under its own policy, and named by --tenant found there alone (PERM-10, AUTH-6)', async () => {
  const tenants = {
    acme: { rules: [{ id: 'acme-reads', effect: 'deny', tools: ['code.read_file'] }] },
    zeta: {},
  }
  const place = makePlace({ 'a.txt': 'a' }, { 'policy.json': { tenants } })
  const id = await made(place, 'code.read_file --tenant acme', { path: 'a.txt' })
  for (const more of [[], ['--tenant', 'acme']])
    expect(await explained(place, id, ...more)).toMatchObject({
      begin: { tenant: 'acme', decision: { layer: 'tenant', rule: 'acme-reads' } },
      now: { preflight: { decision: { layer: 'tenant', rule: 'acme-reads' } } },
      differences: [],
    })
  const { begin, now } = await explained(place, id)
  expect((now as { preflight: Preflight }).preflight.policyDigest).toBe(begin.policy)
  const other = await explain(place, id, '--tenant', 'zeta')
  expect([other.code, other.stdout]).toEqual([1, ''])
  expect(other.stderr).toContain('has no tenant "zeta". It has: "acme".')
  writeFileSync(join(place.home, 'policy.json'), JSON.stringify({ tenants: { zeta: {} } }))
  expect((await explained(place, id)).now).toMatchObject({
    obstacle: expect.stringContaining('"acme"') as string,
  })
})

test('a call that a hook denied, one that had no budget left, and one that a key answered (PERM-10)', async () => {
  const place = makePlace(
    { 'a.txt': 'a' },
    {
      'policy.json': { budgets: [{ id: 'two', unit: 'calls', limit: 2, tools: ['code.glob'] }] },
      'config.json': {
        hooks: [
          {
            on: 'PreToolUse',
            tools: ['code.list_dir'],
            command: [
              process.execPath,
              '-e',
              'console.log(JSON.stringify({decision:"deny",reason:"not today"}))',
            ],
          },
        ],
      },
    },
  )
  const hooked = await made(place, 'code.list_dir', {})
  expect(await explained(place, hooked)).toMatchObject({
    end: { code: 'POLICY.HOOK_DENIED' },
    differences: [],
  })
  expect((await explain(place, hooked)).stdout).toContain('not today')
  for (const _ of [1, 2]) await made(place, 'code.glob', { pattern: '*' })
  expect(await explained(place, await made(place, 'code.glob', { pattern: '*' }))).toMatchObject({
    end: { code: 'QUOTA.BUDGET_EXCEEDED' },
    now: { obstacle: expect.stringContaining('budget') as string },
  })
  const keyed = { path: 'k.txt', content: 'k' }
  const line = 'code.write_file --approve once --key k1'
  const first = await made(place, line, keyed)
  expect((await explained(place, first)).differences).toEqual([])
  const again = await made(place, line, keyed)
  expect(await explained(place, again)).toMatchObject({
    differences: [],
    now: { preflight: { effect: 'ask' } },
  })
  expect((await explain(place, again)).stdout).toContain(
    `the yes of the person to ${first}, whose result was given again`,
  )
})

test('a call of a tool that the command line does not know is explained from its records (PERM-10)', async () => {
  const place = makePlace()
  const runtime = await openAt(place, { tools: [makeTool('mail.read')] })
  const { callId } = await runtime.session({ actor: 'ann' }).call('mail.read')
  await runtime.close()
  expect(await explained(place, callId)).toMatchObject({
    begin: { actor: 'ann', decision: { layer: 'defaults', rule: 'readonly' } },
    now: { obstacle: 'there is no tool "mail.read" here' },
  })
})

test('a call that was made in another project is told as such (PERM-10)', async () => {
  const place = makePlace()
  const id = await made(place, 'code.write_file --approve once', { ...write('a.txt'), overwrite: true })
  const elsewhere = makePlace()
  const { stdout } = await explain(place, id, '--project', elsewhere.project)
  expect(stdout).toContain('Where the call was made in another project, name that with --project.')
  expect(stdout).toContain('now       SANDBOX.CAPABILITY_BLOCKED')
})

test('what a model said cannot forge a line of the explanation (PERM-10)', async () => {
  const place = makePlace()
  const runtime = await openAt(place)
  const { callId } = await runtime.session().call('demo.x\n  end         ok\u001b[31m')
  await runtime.close()
  const { stdout } = await explain(place, callId)
  expect(stdout).toMatch(new RegExp(`^${callId} demo\\.x\\\\n {2}end {9}ok\\\\u\\{1b\\}\\[31m\n`))
  expect(stdout).not.toMatch(/^ {2}end {9}ok/m)
})

test('a body that was changed by hand is told, and nothing is decided from what cannot be read (PERM-10, EVID-7)', async () => {
  const place = makePlace()
  const id = await made(place, 'code.write_file --approve deny', write('a.txt'))
  const db = new DatabaseSync(place.store)
  db.prepare("update records set body = '{' where call = ? and kind = 'begin'").run(id)
  db.close()
  const found = await explained(place, id)
  expect(found).toMatchObject({
    begin: { decision: { rule: 'write' } },
    now: { obstacle: expect.any(String) as string },
    differences: [
      { what: 'input', now: 'the evidence holds something else' },
      { what: 'operations', now: 'the evidence holds something else' },
    ],
  })
})

test('a call that was cut off by a kill is explained by what decided before it began (PERM-10)', async () => {
  const place = makePlace({}, { 'config.json': { sandbox: 'host' } })
  const argv = ['argv=sh', 'argv=-c', 'argv=echo $$ > pid; sleep 60']
  const running = startHandrail(place, ['call', 'code.run_command', ...argv, '--approve', 'once'])
  await vi.waitFor(() => expect(readFileSync(join(place.project, 'pid'), 'utf8')).toMatch(/\n/), 30_000)
  running.child.kill('SIGKILL')
  await running.ended
  await handrail(place, ['evidence', 'list'])
  const { stdout } = await explain(place, 'last')
  expect(stdout).toContain('decision    ask by defaults/dangerous')
  expect(stdout).toMatch(/\n {2}end +unknown, IDEMPOTENCY\.OUTCOME_UNKNOWN \(interrupted\)\n/)
  expect(stdout).toContain('\nNow, under the same policy, the same is decided.\n')
})

test('what cannot be explained is refused with what to do (PERM-10)', async () => {
  const place = makePlace({ 'a.txt': 'a' })
  const nothing = await explain(place, 'call_none')
  expect([nothing.code, nothing.stdout]).toEqual([1, ''])
  expect(nothing.stderr).toContain(
    'the store has no call "call_none". "handrail evidence list" shows the latest.',
  )
  const id = await made(place, 'code.read_file', { path: 'a.txt' })
  const refused = [
    [['explain', '--call', id, 'code.read_file'], 'takes no tool'],
    [['explain', '--call', id, '--role', 'main'], 'takes no --role'],
    [['explain', '--call', ''], '--call needs a value'],
    [['explain'], 'Name a tool, or a call with --call'],
  ] as const
  for (const [argv, message] of refused) {
    const { code, stderr } = await handrail(place, argv)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  }
})
