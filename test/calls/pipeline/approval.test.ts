import { readFileSync, writeFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, defineTool, type ApprovalAnswer } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

const write = { path: 'notes.txt', content: 'hello\n' }

test('a write asks, shows the diff, and runs after a yes (PERM-2, PERM-6)', async () => {
  const project = makeFolder()
  const person = personSaying('allow_once')
  const runtime = await openRuntime({ project, tools: [codeTools()], approve: person.approve })
  const session = runtime.session({
    agent: { agentId: 'a1', runId: 'r1', parentAgentId: 'a0', parentRunId: 'r0' },
  })
  const result = await session.call('code.write_file', write)
  expect(result.ok).toBe(true)
  expect(readFileSync(join(project, 'notes.txt'), 'utf8')).toBe('hello\n')
  expect(person.asked).toHaveLength(1)
  const [request] = person.asked
  expect(request).toMatchObject({
    tool: 'code.write_file',
    permission: 'write',
    dangerous: false,
    suggested: 'allow_once',
    scope: project,
    hookNotes: [],
    principal: {
      role: 'main',
      agent: { agentId: 'a1', runId: 'r1', parentAgentId: 'a0', parentRunId: 'r0' },
    },
  })
  expect(request?.tags).toContain('filesystem')
  expect(request?.inputSummary).toContain('notes.txt')
  expect(request?.preview.kind).toBe('diff')
  expect(request?.preview.body).toContain('+hello')
  expect(request?.because).toMatchObject({ layer: 'defaults', rule: 'write' })
})

test('a command shows its argv, directory and environment (PERM-6)', async () => {
  const project = makeFolder()
  const person = personSaying('deny')
  const runtime = await openRuntime({ project, tools: [codeTools()], approve: person.approve })
  await runtime.session().call('code.run_command', { argv: ['sh', '-c', 'echo hi'] })
  const [request] = person.asked
  expect(request).toMatchObject({ dangerous: true, suggested: 'deny', cwd: project })
  expect(request?.env).toContain('PATH')
  expect(request?.preview.kind).toBe('argv')
})

test('a read asks nobody (PERM-2)', async () => {
  const person = personSaying('deny')
  const runtime = await openRuntime({
    project: makeFolder({ 'a.txt': 'a' }),
    tools: [codeTools()],
    approve: person.approve,
  })
  const result = await runtime.session().call('code.read_file', { path: 'a.txt' })
  expect(result.ok).toBe(true)
  expect(person.asked).toEqual([])
})

test('nobody to ask means no (PERM-5)', async () => {
  const project = makeFolder()
  const runtime = await openRuntime({ project, tools: [codeTools()] })
  const result = await runtime.session().call('code.write_file', write)
  expect(result).toMatchObject({
    ok: false,
    outcome: 'denied',
    error: { code: 'POLICY.APPROVAL_DENIED', reason: 'no_callback' },
  })
  expect(existsSync(join(project, 'notes.txt'))).toBe(false)
})

test.each([
  ['not today', 'not today. Do not'],
  ['Not today.', 'Not today. Do not'],
  ['Why?', 'Why? Do not'],
])('a no with the reason %j is told as one sentence (PERM-5)', async (reason, told) => {
  const approve = async () => ({ decision: 'deny' as const, reason })
  const runtime = await openRuntime({ project: makeFolder(), tools: [codeTools()], approve })
  const result = await runtime.session().call('code.write_file', write)
  expect(result.error?.message).toContain(`: ${told}`)
})

test('a program that can ask nobody is told what it can do, and each of that helps (PERM-5)', async () => {
  const place = { project: makeFolder(), tools: [codeTools()] }
  const runtime = await openRuntime(place)
  const session = runtime.session({ tenant: 'acme' })
  const { message = '' } = (await session.call('code.write_file', write)).error ?? {}
  expect(message).toMatch(
    /The program can let it through with (\{.*?\}) among the "rules" of its policy, or for a day with runtime\.consents\.give\((\{.*?\})\), or ask a person, by the option "approve" of createRuntime or of a session$/,
  )
  const [rule = '', consent = ''] = message.match(/\{.*?\}/g) ?? []
  const command = { argv: ['rm', 'notes.txt'] }
  const dangerous = await session.call('code.run_command', command)
  expect(dangerous.error?.message).toMatch(/The program can let it through for a day with runtime/)
  await runtime.consents.give(JSON.parse(consent))
  expect((await session.call('code.write_file', write)).ok).toBe(true)
  const ruled = await openRuntime({ ...place, project: makeFolder(), policy: { rules: [JSON.parse(rule)] } })
  expect((await ruled.session({ tenant: 'acme' }).call('code.write_file', write)).ok).toBe(true)
  const secret = { path: '.env', content: 'x' }
  expect((await session.call('code.write_file', secret)).error?.message).toMatch(
    /The program can ask a person, by the option "approve"/,
  )
})

test.each([
  ['rejects', async () => Promise.reject(new Error('the UI is gone')), 'callback_failed'],
  ['answers true', async () => true as unknown as ApprovalAnswer, 'callback_failed'],
  ['answers a truthy object', async () => ({ allow: 1 }) as unknown as ApprovalAnswer, 'callback_failed'],
  ['answers "yes"', async () => ({ decision: 'yes' }) as unknown as ApprovalAnswer, 'callback_failed'],
  [
    'sends changed arguments along',
    async () => ({ decision: 'allow_once', modified_args: { path: 'x' } }) as unknown as ApprovalAnswer,
    'callback_failed',
  ],
  ['never answers', () => new Promise<ApprovalAnswer>(() => {}), 'callback_timeout'],
])(
  'an approver that %s denies, with a permission_failed event (PERM-3, PERM-5)',
  async (_, approve, reason) => {
    const project = makeFolder()
    const events: string[] = []
    const runtime = await openRuntime({
      project,
      tools: [codeTools()],
      approve,
      limits: { approvalTimeoutMs: 60 },
      onEvent: (event) => events.push(event.type),
      onError: () => {},
    })
    const result = await runtime.session().call('code.write_file', write)
    expect(result.error).toMatchObject({ code: 'POLICY.APPROVAL_DENIED', reason })
    expect(existsSync(join(project, 'notes.txt'))).toBe(false)
    expect(events).toContain('permission_failed')
    const notes = [...runtime.store.records({ kind: 'note' })].map(
      (record) => JSON.parse(record.text) as { event: string },
    )
    expect(notes.map((note) => note.event)).toContain('permission_failed')
  },
)

test('an answer that is not one is told to the log as it was given (PERM-3)', async () => {
  const told: string[] = []
  const runtime = await openRuntime({
    tools: [codeTools()],
    approve: async () => ({ decision: 'allow' }) as unknown as ApprovalAnswer,
    onError: ({ cause }) => told.push(String(cause)),
  })
  await runtime.session().call('code.write_file', write)
  expect(told).toEqual([
    expect.stringContaining('the fields decision and the decision "allow"; an answer is'),
  ])
})

test('a no is not remembered (PERM-5)', async () => {
  const person = personSaying('deny')
  const runtime = await openRuntime({ tools: [codeTools()], approve: person.approve })
  const session = runtime.session()
  await session.call('code.write_file', write)
  await session.call('code.write_file', write)
  expect(person.asked).toHaveLength(2)
})

test('a yes for the session covers its directory, not the tool (PERM-4)', async () => {
  const person = personSaying('allow_for_session')
  const runtime = await openRuntime({
    project: makeFolder({ 'a/x': '', 'b/x': '' }),
    tools: [codeTools()],
    approve: person.approve,
  })
  const session = runtime.session()
  await session.call('code.write_file', { path: 'a/one.txt', content: '1' })
  await session.call('code.write_file', { path: 'a/two.txt', content: '2' })
  expect(person.asked).toHaveLength(1)
  await session.call('code.write_file', { path: 'b/three.txt', content: '3' })
  expect(person.asked).toHaveLength(2)
  await runtime.session().call('code.write_file', { path: 'a/four.txt', content: '4' })
  expect(person.asked).toHaveLength(3)
})

test('tools without a scope share no grant: another input asks again (PERM-4)', async () => {
  const person = personSaying('allow_for_session')
  const send = defineTool({
    name: 'mail.send',
    description: 'Sends a mail.',
    input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    run: ({ to }) => `sent to ${to}`,
  })
  const runtime = await openRuntime({ tools: [send], approve: person.approve })
  const session = runtime.session()
  await session.call('mail.send', { to: 'ada' })
  await session.call('mail.send', { to: 'ada' })
  await session.call('mail.send', { to: 'eve' })
  expect(person.asked).toHaveLength(2)
})

test('a yes for the session holds as long as the tool says (DEF-3, PERM-4)', async () => {
  let now = 1_000_000
  const person = personSaying('allow_for_session')
  const send = defineTool({
    name: 'mail.send',
    description: 'Sends a mail.',
    consent: { required: true, validForMs: 60_000 },
    run: () => 'sent',
  })
  const runtime = await openRuntime({ tools: [send], approve: person.approve, now: () => now })
  const session = runtime.session()
  await session.call('mail.send')
  now += 59_000
  await session.call('mail.send')
  expect(person.asked).toHaveLength(1)
  now += 2_000
  await session.call('mail.send')
  expect(person.asked).toHaveLength(2)
})

test('a session grant never covers a sensitive path (PERM-4, FILE-8)', async () => {
  const person = personSaying('allow_for_session')
  const project = makeFolder({ 'a.txt': 'a', '.env': 'X=1' })
  const runtime = await openRuntime({ project, tools: [codeTools()], approve: person.approve })
  const session = runtime.session()
  await session.call('code.write_file', { path: 'b.txt', content: 'b' })
  await session.call('code.read_file', { path: '.env' })
  expect(person.asked.map((request) => request.because.rule)).toEqual(['write', 'sensitive-path'])
})

test('a file that changes while the person thinks makes the yes stale, and nothing is written', async () => {
  const project = makeFolder({ 'notes.txt': 'old\n' })
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    approve: async () => {
      writeFileSync(join(project, 'notes.txt'), 'somebody else\n')
      return { decision: 'allow_once' }
    },
  })
  const result = await runtime.session().call('code.write_file', { ...write, overwrite: true })
  expect(result).toMatchObject({
    ok: false,
    error: { code: 'POLICY.APPROVAL_DENIED', reason: 'approval_stale' },
  })
  expect(readFileSync(join(project, 'notes.txt'), 'utf8')).toBe('somebody else\n')
})

test('a file that changes under a write which a rule allowed is not a matter of an approval (CALL-5)', async () => {
  const project = makeFolder({ 'notes.txt': 'old\n' })
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    policy: { rules: [{ id: 'writes', effect: 'allow', tools: ['code.write_file'] }] },
    hooks: [
      {
        name: 'change',
        before() {
          writeFileSync(join(project, 'notes.txt'), 'somebody else\n')
          return { decision: 'allow' }
        },
      },
    ],
  })
  const result = await runtime.session().call('code.write_file', { ...write, overwrite: true })
  expect(result).toMatchObject({
    outcome: 'failed',
    error: { code: 'TOOL.FAILED', reason: 'stale_preview' },
  })
  expect(result.error?.message).toContain('Read it again')
  expect(readFileSync(join(project, 'notes.txt'), 'utf8')).toBe('somebody else\n')
})

test('a call that is aborted while it is planned again after a yes is aborted, not stale (SCHED-6)', async () => {
  let plans = 0
  const runs: string[] = []
  const tool = defineTool({
    name: 'demo.planned',
    description: 'Plans, and runs.',
    permission: 'write',
    input: { type: 'object', properties: {} },
    plan() {
      if (++plans === 2) session.abort('the-call', 'never mind')
      return { operations: [], preview: { kind: 'text', title: 'plan', body: String(plans) } }
    },
    run: () => void runs.push('ran'),
  })
  const runtime = await openRuntime({ tools: [tool], approve: personSaying('allow_once').approve })
  const session = runtime.session()
  const [result] = (await session.turn([{ id: 'the-call', tool: 'demo.planned' }])).results
  expect(plans).toBe(2)
  expect(result).toMatchObject({
    outcome: 'aborted',
    error: { code: 'TOOL.ABORTED', reason: 'aborted_by_user' },
  })
  expect(runs).toEqual([])
})

test('what a person takes to answer is not a part of the duration of a call, whether they say yes or no (PERM-3, EVID-2)', async () => {
  let now = Date.UTC(2026, 0, 1)
  let decision: ApprovalAnswer['decision'] = 'allow_once'
  const tool = defineTool({
    name: 'shop.pay',
    description: 'Pays.',
    plan: () => {
      now += 3
      return { operations: [] }
    },
    rawInput: { type: 'object' },
    run: () => {
      now += 7
      return 'paid'
    },
  })
  const runtime = await openRuntime({
    tools: [tool],
    now: () => now,
    approve: async () => {
      now += 60_000
      return { decision }
    },
  })
  const durationOf = async () => (await runtime.session().call('shop.pay')).metadata.durationMs
  expect(await durationOf()).toBe(7)
  decision = 'deny'
  expect(await durationOf()).toBe(3)
})

test('what a person allowed for a session is listed, ends in its time, and can be taken back (AUTH-3, PERM-4)', async () => {
  let now = Date.UTC(2026, 0, 1)
  const person = personSaying('allow_for_session')
  const pay = (name: string, validForMs?: number) =>
    defineTool({
      name,
      description: 'Pays.',
      consent: { required: true, ...(validForMs !== undefined && { validForMs }) },
      rawInput: { type: 'object' },
      plan: () => ({ operations: [], ...(validForMs === undefined && { scope: 'the shop' }) }),
      run: () => 'paid',
    })
  const tools = [pay('shop.pay'), pay('shop.once', 1_000)]
  const runtime = await openRuntime({ tools, now: () => now, approve: person.approve })
  const session = runtime.session()
  const given = await session.call('shop.pay')
  const timed = await session.call('shop.once')
  const timedApproval = {
    call: timed.callId,
    tool: 'shop.once',
    scope: 'this very input',
    givenAt: now,
    expiresAt: now + 1_000,
  }
  expect(session.approvals()).toEqual([
    { call: given.callId, tool: 'shop.pay', scope: 'the shop', givenAt: now },
    timedApproval,
  ])
  expect(session.revokeApproval(given.callId, 'ann')).toBe(true)
  expect(session.revokeApproval(given.callId, 'ann')).toBe(false)
  expect(session.approvals()).toEqual([timedApproval])
  now += 1_000
  expect(session.approvals()).toEqual([])
  for (const tool of ['shop.pay', 'shop.once']) await session.call(tool)
  expect(person.asked).toHaveLength(4)
  const notes = [...runtime.store.records({ kind: 'note' })].map(({ text }) => text)
  expect(notes.filter((text) => text.includes('consent_revoked'))).toEqual([
    expect.stringContaining(`"actor":"ann","tool":"shop.pay"`),
  ])
})
