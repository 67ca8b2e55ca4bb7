import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace } from '../support/command-line.ts'
import { startModelServer, type Answer } from '../support/model-server.ts'
import { listRuns, modelAt, modelEnv, modelKey, runModel } from '../support/run-model.ts'

const read: Answer = { text: 'I look. ', calls: [{ tool: 'code.read_file', input: { path: 'a.txt' } }] }
const write: Answer = { calls: [{ tool: 'code.write_file', input: { path: 'b.txt', content: 'new\n' } }] }
const done: Answer = { text: ['Do', 'ne: b.txt ', 'is there.'] }
const place = (own = {}) => makePlace({ 'a.txt': 'alpha\n' }, own)
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; [field: string]: unknown })

test('a model of a provider package works on a task: its words on stdout, its calls a line each (AGENT-3)', async () => {
  const of = place()
  const argv = ['write b.txt', '--approve', 'once']
  const { code, stdout, stderr, asked } = await runModel(of, [read, write, done], { argv })
  expect([code, stdout]).toEqual([0, 'I look. \nDone: b.txt is there.\n'])
  expect(stderr).toMatch(
    /^handrail: run_\w+ with anthropic\/test-model, by \S+@ai-sdk\/anthropic\S+\n {2}✓ code\.read_file \{"path":"a\.txt"\} {2}\d.*\n {2}✓ code\.write_file \{"path":"b\.txt","content":"new\\n"\} {2}\d.*\nhandrail: completed: 3 turns, 360 tokens in \(60 cached\), 30 out\n$/,
  )
  expect(readFileSync(join(of.project, 'b.txt'), 'utf8')).toBe('new\n')
  expect(asked.map(({ path }) => path)).toEqual(['/v1/messages', '/v1/messages', '/v1/messages'])
  expect(asked[0]?.headers['x-api-key']).toBe(modelKey)
  expect(JSON.stringify(asked[1]?.body['messages'])).toContain('alpha')
})

test('another provider speaks its own API (AGENT-3)', async () => {
  const server = await startModelServer([read, done], 'openai')
  const argv = ['run', 'look', '--model', 'openai/gpt-5', '--base-url', server.url]
  const { code, stdout } = await handrail(place(), argv, { env: modelEnv })
  expect([code, stdout]).toEqual([0, 'I look. \nDone: b.txt is there.\n'])
  expect(server.asked.map(({ path }) => path)).toEqual(['/v1/responses', '/v1/responses'])
  expect(JSON.stringify(server.asked[1]?.body['input'])).toContain('alpha')
})

test('without a terminal a run ends for an approval, and goes on after it, also in another process (AGENT-3, PERM-3)', async () => {
  const of = place()
  const first = await runModel(of, [read, write], { argv: ['write b.txt'] })
  expect(first.code).toBe(4)
  const [run] = await listRuns(of)
  const id = run?.id ?? ''
  expect(run).toMatchObject({ endReason: 'approval_pending', turns: 2 })
  expect(first.stderr).toMatch(/\n {2}\? code\.write_file waits for a person: .*b\.txt.*handrail approvals/)
  expect(first.stderr).toContain(`Go on: handrail run --resume ${id}\n`)
  expect(existsSync(join(of.project, 'b.txt'))).toBe(false)

  const waits = await handrail(of, ['run', '--resume', id], { env: modelEnv })
  expect([waits.code, waits.stderr]).toEqual([4, expect.stringContaining(`--resume ${id}`)])
  const said = await handrail(of, ['run', '--resume', id, 'and more'], { env: modelEnv })
  expect([said.code, said.stderr]).toEqual([2, expect.stringContaining('Calls of the run')])
  expect((await handrail(of, ['approvals', 'allow', 'last', '--yes'])).code).toBe(0)

  // The server of the first process is asked again: nothing has to be said of it.
  const server = await startModelServer([done])
  const last = await handrail(of, ['run', '--resume', id.slice(-6), ...modelAt(server.url)], {
    env: modelEnv,
  })
  expect([last.code, last.stdout]).toEqual([0, 'Done: b.txt is there.\n'])
  expect(readFileSync(join(of.project, 'b.txt'), 'utf8')).toBe('new\n')
  const calls = jsonOf<{ tool: string; outcome: string }[]>(
    (await handrail(of, ['evidence', 'list', '--json'])) as never,
  )
  expect(calls.filter(({ outcome }) => outcome === 'ok').map(({ tool }) => tool)).toEqual([
    'code.write_file',
    'code.read_file',
  ])
  const more = await startModelServer([{ text: 'More.' }])
  const again = ['run', '--resume', 'last', 'and more', ...modelAt(more.url)]
  expect(await handrail(of, again, { env: modelEnv })).toMatchObject({ code: 0, stdout: 'More.\n' })
  expect(JSON.stringify(more.asked[0]?.body['messages'])).toContain('and more')
})

test('a run goes on at the server and with the model that it began with, unless another one is named (AGENT-3)', async () => {
  const of = place()
  const argv = ['write b.txt', '--approve', 'deny', '--max-turns', '1']
  const { code, stderr, asked } = await runModel(of, [write, done], { argv })
  expect([code, stderr]).toEqual([5, expect.stringMatching(/handrail: max_turns: 1 turn, .*\nGo on: /)])
  const resumed = await handrail(of, ['run', '--resume', 'last'], { env: modelEnv })
  expect([resumed.code, resumed.stdout, asked.length]).toEqual([0, 'Done: b.txt is there.\n', 2])
  expect(JSON.stringify(asked[1]?.body['messages'])).toContain('APPROVAL_DENIED')
})

test('with --wait a run without a terminal waits for an answer from anywhere (PERM-3)', async () => {
  const of = place()
  const running = runModel(of, [write, done], { argv: ['write b.txt', '--wait'] })
  await expect
    .poll(async () => (await handrail(of, ['approvals', 'allow', 'last', '--yes', '--as', 'bob'])).code)
    .toBe(0)
  expect(await running).toMatchObject({ code: 0, stdout: 'Done: b.txt is there.\n' })
  expect(existsSync(join(of.project, 'b.txt'))).toBe(true)
})

test('--json prints each event as a line of JSON, the result last, and no secret (OUT-4, AGENT-3)', async () => {
  const of = makePlace({ 'a.txt': `key = ${modelKey}\n` })
  const leak: Answer = { text: [modelKey.slice(0, 9), modelKey.slice(9), ' is it.'] }
  const { code, stdout, stderr } = await runModel(of, [read, leak], { argv: ['look', '--json'] })
  expect(code).toBe(0)
  const events = linesOf(stdout)
  expect([...new Set(events.map(({ type }) => type))]).toEqual(
    'run_started turn_started text turn_ended call call_ended run_ended'.split(' '),
  )
  expect(events.find(({ type }) => type === 'call_ended')).toMatchObject({
    result: { tool: 'code.read_file', outcome: 'ok', is_error: false },
  })
  expect(events.at(-1)).toMatchObject({ result: { endReason: 'completed', text: '[redacted] is it.' } })
  expect(stdout + stderr).not.toContain(modelKey.slice(13))
  const shown = await handrail(of, ['runs', 'show', 'last'], { env: modelEnv })
  expect(shown.stdout).toContain('[redacted] is it.')
  expect(shown.stdout).not.toContain(modelKey.slice(13))
})

test('with an output schema the answer is JSON of it, alone on stdout (AGENT-3)', async () => {
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }
  const of = makePlace({ 'a.txt': 'alpha\n', 'schema.json': JSON.stringify(schema) })
  const argv = ['look', '--output-schema', 'schema.json']
  const { code, stdout, asked } = await runModel(of, [read, { text: 'yes' }, { text: '{"ok": true}' }], {
    argv,
  })
  expect([code, JSON.parse(stdout), asked.length]).toEqual([0, { ok: true }, 3])
})

test('the model is told what the project and the person say, and nothing of another file (AGENT-3)', async () => {
  const of = makePlace({ 'AGENTS.md': 'Use tabs.\n', 'how.txt': 'You are a cook.\n', 'secret.txt': 'hidden' })
  symlinkSync(join(of.project, 'secret.txt'), join(of.project, 'CLAUDE.md'))
  const { code, stderr, asked } = await runModel(of, [{ text: 'Hi.' }], {
    argv: ['-', '--system', 'how.txt'],
    input: 'from standard input',
  })
  expect(code).toBe(0)
  const told = JSON.stringify(asked[0]?.body)
  for (const part of ['Use tabs.', 'You are a cook.', 'from standard input', 'instructions of the project'])
    expect(told).toContain(part)
  expect(told).not.toContain('hidden')
  expect(stderr).toContain('The model is not shown the CLAUDE.md of the project: it is a link')
})

test('tokens cost what prices.json says, and the budgets of the policy hold (AUTH-4, AGENT-3)', async () => {
  const own = {
    'prices.json': { 'anthropic/test-model': { input: 3, output: 15, cachedInput: 0.3 } },
    'policy.json': { budgets: [{ id: 'day', unit: 'tokens', limit: 30_000 }] },
  }
  const of = place(own)
  const { stderr, code } = await runModel(of, [{ text: 'Hi.' }], { argv: ['hi'] })
  expect([code, stderr]).toEqual([0, expect.stringContaining('120 tokens in (20 cached), 10 out, cost 0.00')])
  writeFileSync(
    join(of.home, 'policy.json'),
    JSON.stringify({
      ...own['policy.json'],
      budgets: [{ id: 'day', unit: 'tokens', limit: 130 }],
    }),
  )
  const over = await runModel(of, [{ text: 'Hi.' }], { argv: ['hi'] })
  expect([over.code, over.asked.length]).toEqual([5, 0])
  expect(over.stderr).toContain('handrail: budget_exceeded: 0 turns')
})

test('where a budget counts money, a model without a price is not asked, and the person is told where it goes (AUTH-4)', async () => {
  const of = place({ 'policy.json': { budgets: [{ id: 'day', unit: 'money', limit: 5 }] } })
  const { code, stderr, asked } = await runModel(of, [done], { argv: ['hi'] })
  expect([code, asked.length]).toEqual([5, 0])
  expect(stderr).toContain('handrail: prices.json in your home of Handrail says what a model costs')
})

test('a standing consent answers for the person, but not behind their no (AUTH-3)', async () => {
  const of = place()
  const given = await handrail(of, ['consent', 'give', 'code.write_file', '--for', '1h', '--scope', '*'])
  expect([given.code, given.stderr]).toEqual([0, ''])
  const no = await runModel(of, [write, done], { argv: ['write', '--approve', 'deny'] })
  expect([no.code, no.stderr]).toEqual([0, expect.stringContaining('denied: POLICY.APPROVAL_DENIED')])
  expect(existsSync(join(of.project, 'b.txt'))).toBe(false)
  const yes = await runModel(of, [write, done], { argv: ['write'] })
  expect([yes.code, existsSync(join(of.project, 'b.txt'))]).toEqual([0, true])
})

test('a provider that fails ends the run with its words, and the run can go on (AGENT-3)', async () => {
  const of = place()
  const { code, stdout, stderr } = await runModel(of, [{ status: 400 }, done], { argv: ['look'] })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(
    /handrail: failed: 0 turns.*\nhandrail: PROVIDER\.UNAVAILABLE \(model_failed\): .*asked too often.*\nGo on: handrail run --resume run_/,
  )
  const resumed = await handrail(of, ['run', '--resume', 'last'], { env: modelEnv })
  expect([resumed.code, resumed.stdout]).toEqual([0, 'Done: b.txt is there.\n'])
})

test('role, mode, actor and session of a run are those of the command line (AUTH-1)', async () => {
  const of = place()
  const argv = ['plan it', '--mode', 'plan', '--actor', 'ann', '--session', 'mine', '--approve', 'once']
  const { code, stderr } = await runModel(of, [write, done], { argv })
  expect([code, stderr]).toEqual([0, expect.stringMatching(/✗ code\S+write_file .*denied: POLICY/)])
  expect(await listRuns(of)).toMatchObject([{ actor: 'ann', session: 'mine', endReason: 'completed' }])
  const other = ['run', '--resume', 'last', '--tenant', 'other']
  expect(await handrail(of, other, { env: modelEnv })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the store has no run "last"') as string,
  })
})

test('runs are listed and shown, with nothing that could drive the terminal (AGENT-3)', async () => {
  const of = place()
  expect((await handrail(of, ['runs'])).stdout).toBe('0 runs\n')
  expect(existsSync(of.home)).toBe(false)
  await runModel(of, [read, { text: 'a\u001b[2Jb\u202e' }], { argv: ['look'] })
  const listed = await handrail(of, ['runs'])
  expect(listed.stdout).toMatch(
    /^run_\w+ {2}\S+Z {2}completed {2}2 turns, 240 tokens in \(40 cached\), 20 out {2}test-model {2}for user\n1 run\n$/,
  )
  const { stdout } = await handrail(of, ['runs', 'show', 'last'])
  for (const part of ['user  ', '  | look', '→ code__read_file {"path":"a.txt"}', '← code__read_file'])
    expect(stdout).toContain(part)
  expect(stdout).toContain('  | a\\u{1b}[2Jb\\u{202e}')
  const shown = jsonOf<{ transcript: { type: string }[] }>(
    (await handrail(of, ['runs', 'show', 'last', '--json'])) as never,
  )
  expect(shown.transcript.map(({ type }) => type)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  const missing = await handrail(of, ['runs', 'show', 'nothing'])
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('no run "nothing"')])
})
