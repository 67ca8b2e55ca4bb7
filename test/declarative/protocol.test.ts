import { resultText, type RuntimeEvent } from 'handrail'
import { expect, test } from 'vitest'
import { openDeclared, tellAll, texts, toolFile } from '../support/declared-tools.ts'

/** A tool whose program prints this and ends like that. */
function printing(stdout: string, more: Record<string, unknown> = {}, { stderr = '', exit = 0 } = {}) {
  const script = `process.stdout.write(${JSON.stringify(stdout)}); process.stderr.write(${JSON.stringify(stderr)}); process.exitCode = ${exit}`
  return toolFile({ command: process.execPath, args: ['-e', script], output: 'result', ...more })
}

async function callPrinting(...given: Parameters<typeof printing>) {
  const { runtime, events } = await openDeclared({ 'a.json': printing(...given) })
  return { result: await runtime.session().call('demo.tool'), events }
}

const progressOf = (events: readonly RuntimeEvent[]) =>
  events.filter(({ type }) => type === 'tool_progress').map(({ summary }) => summary)

test('the program finds its call as one JSON object on stdin (DECL-2)', async () => {
  const { runtime } = await openDeclared({
    'a.json': toolFile({ command: './tell.mjs', output: 'json', input_schema: texts('word'), tags: ['x'] }),
    'tell.mjs': tellAll,
  })
  const agent = { agentId: 'agent-1', runId: 'run-1' }
  const session = runtime.session({ tenant: 'acme', actor: 'ada', agent })
  const result = await session.call('demo.tool', { word: 'ü"\n$(x)' }, { id: 'toolu_1' })
  expect(result.error).toBeUndefined()
  const { stdin, argv } = result.data as { stdin: string; argv: string[] }
  expect(argv).toEqual([])
  expect(JSON.parse(stdin)).toEqual({
    tool_name: 'demo.tool',
    arguments: { word: 'ü"\n$(x)' },
    call_id: result.callId,
    tool_call_id: 'toolu_1',
    session_id: session.id,
    run_id: 'run-1',
    agent_id: 'agent-1',
    principal: { tenant: 'acme', actor: 'ada', role: 'main' },
    project: runtime.project,
  })
  const alone = await runtime.session().call('demo.tool', { word: 'a' })
  expect(JSON.parse((alone.data as { stdin: string }).stdin)).toMatchObject({ run_id: null, agent_id: null })
})

test('a result on stdout is the result of the call, paired with it (DECL-2, OUT-1)', async () => {
  const printed = {
    content: [
      { type: 'text', text: 'one' },
      { type: 'json', json: { two: 2 } },
      { type: 'resource', uri: 'shop:3', name: 'three', mime_type: 'text/plain', text: 'third' },
    ],
    data: { left: 4 },
    summary: 'counted',
    metadata: { source: 'shelf' },
  }
  const { result } = await callPrinting(JSON.stringify(printed))
  expect(result).toMatchObject({
    ok: true,
    outcome: 'ok',
    data: { left: 4 },
    summary: 'counted',
    content: [
      { type: 'text', text: 'one' },
      { type: 'json', json: { two: 2 } },
      { type: 'resource', uri: 'shop:3', name: 'three', mimeType: 'text/plain', text: 'third' },
    ],
    metadata: { tool: { source: 'shelf' } },
  })
  expect(result.toolCallId).toBe(result.callId)
})

test.each<[string, unknown, object]>([
  ['text', { content: 'hi' }, { ok: true, content: [{ type: 'text', text: 'hi' }] }],
  ['data alone', { data: [1] }, { ok: true, data: [1], content: [{ type: 'json', json: [1] }] }],
  ['nothing', {}, { ok: true, content: [] }],
  [
    'an error',
    { error: { reason: 'sold_out', message: 'None is left.', data: { item: 'x' } }, content: 'Sorry.' },
    {
      ok: false,
      error: { code: 'TOOL.FAILED', reason: 'sold_out', message: 'None is left.', data: { item: 'x' } },
    },
  ],
  [
    'a failure',
    { is_error: true, summary: 'no paper' },
    { ok: false, error: { reason: 'failed', message: 'no paper' } },
  ],
  ['not ok', { ok: false, content: 'why' }, { ok: false, error: { reason: 'failed' } }],
])('%s is what the program says (DECL-2)', async (_what, printed, expected) => {
  expect((await callPrinting(JSON.stringify(printed))).result).toMatchObject(expected)
})

test.each<[string, string, RegExp]>([
  ['nothing', '', /printed nothing/],
  ['text', 'done', /not JSON/],
  ['two values', '{}\n{}', /not JSON/],
  ['a list', '[]', /array/],
  ['unknown fields, every one', '{"a": 1, "b": 2}', /\/a: .*\/b: /],
  ['the id of another call', '{"tool_call_id": "call_x"}', /\/tool_call_id: It is not that of this call/],
  ['the name of another tool', '{"tool": "code.read_file"}', /\/tool: /],
  ['a contradiction', '{"ok": true, "error": {"message": "no"}}', /do not say the same/],
  ['another contradiction', '{"ok": true, "is_error": true}', /do not say the same/],
  ['a block of no known type', '{"content": [{"type": "artifact_ref"}]}', /\/content\/0\/type/],
  ['a block without what it needs', '{"content": [{"type": "text"}]}', /\/content\/0: .*"text"/],
  ['a code that is not its own', '{"error": {"code": "POLICY.DENY_TOOL", "message": "x"}}', /\/error\/code/],
  ['artifacts', '{"artifacts": [{"digest": "sha256:0"}]}', /\/artifacts/],
])('%s is not a result and says what is wrong (DECL-2)', async (_what, stdout, message) => {
  const { result } = await callPrinting(stdout, {}, { stderr: 'the log' })
  expect(result.error).toMatchObject({ code: 'SCHEMA.VALIDATION_FAILED', reason: 'invalid_output' })
  expect(result.error?.message).toMatch(message)
})

test('the output schema holds for what the program gives (DECL-2, SCHEMA-3)', async () => {
  const output_schema = { type: 'object', properties: { left: { type: 'integer' } }, required: ['left'] }
  for (const [output, right, wrong] of [
    ['json', '{"left": 3}', '{"left": "three"}'],
    ['result', '{"data": {"left": 3}}', '{"data": {"left": "three"}}'],
  ] as const) {
    const good = await callPrinting(right, { output, output_schema })
    expect(good.result.data).toEqual({ left: 3 })
    const bad = await callPrinting(wrong, { output, output_schema })
    expect(bad.result.error).toMatchObject({ code: 'SCHEMA.VALIDATION_FAILED', reason: 'invalid_output' })
  }
})

test('stdout may be any JSON, or text, where the file says so (DECL-2)', async () => {
  const json = await callPrinting('[1, {"a": null}]', { output: 'json' })
  expect(json.result.data).toEqual([1, { a: null }])
  const text = await callPrinting('{"a": 1}\n', { output: 'text' })
  expect([text.result.data, resultText(text.result)]).toEqual(['{"a": 1}\n', '{"a": 1}\n'])
  const silent = await callPrinting('', { output: 'text' })
  expect(silent.result).toMatchObject({ ok: true, data: '', content: [] })
})

test('stderr is a log: it is shown while the program runs, and is not a part of the result (DECL-2, CALL-7)', async () => {
  const { result, events } = await callPrinting('fine', { output: 'text' }, { stderr: 'step 1\nstep 2\n' })
  expect(progressOf(events).join('')).toBe('step 1\nstep 2\n')
  expect(JSON.stringify(result)).not.toContain('step')
})

test.each(['result', 'json', 'text'])(
  'another exit code than 0 is an error with the end of stderr, whatever %s it printed (DECL-2)',
  async (output) => {
    const stderr = `${'x'.repeat(2_000)}\nno such shop\n`
    const { result } = await callPrinting('{"ok": true}', { output }, { stderr, exit: 3 })
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'TOOL.FAILED', reason: 'exit_code', data: { exit_code: 3, signal: null } },
    })
    expect(result.error?.message).toMatch(/"demo.tool" ended with exit code 3: .*no such shop$/s)
    expect(result.error?.message.length).toBeLessThan(700)
    expect(resultText(result)).toContain('{"ok": true}')
  },
)

test('a program that a signal ends is an error that says so (DECL-2)', async () => {
  const { runtime } = await openDeclared({
    'a.json': toolFile({ command: process.execPath, args: ['-e', 'process.kill(process.pid, "SIGSEGV")'] }),
  })
  const { error } = await runtime.session().call('demo.tool')
  expect(error).toMatchObject({ reason: 'exit_code', data: { exit_code: null, signal: 'SIGSEGV' } })
})

test('a program that reads nothing of its stdin does not mind (DECL-2)', async () => {
  const { runtime } = await openDeclared({
    'a.json': toolFile({ command: 'echo', args: ['fine'], input_schema: texts('long') }),
  })
  const { data } = await runtime.session().call('demo.tool', { long: 'x'.repeat(1_000_000) })
  expect(data).toBe('fine\n')
})

test('a program that is not there is an error of the call, and the others run (DECL-2)', async () => {
  const { runtime, issues } = await openDeclared({
    'a.json': toolFile({ command: 'no-such-program-here' }),
    'b.json': toolFile({ name: 'demo.path', command: './gone.sh' }),
    'c.json': toolFile({ name: 'demo.good', command: 'echo' }),
  })
  expect(issues).toEqual([])
  const session = runtime.session()
  for (const name of ['demo.tool', 'demo.path'])
    expect((await session.call(name)).error).toMatchObject({ reason: 'command_not_found' })
  expect((await session.call('demo.good')).ok).toBe(true)
})

test('a program may say of a field that it has nothing, and hand over artifacts (DECL-2, OUT-2)', async () => {
  const { result } = await callPrinting(
    JSON.stringify({ ok: true, summary: 's', data: { a: 1 }, artifacts: [], error: null, content: null }),
  )
  expect(result).toMatchObject({ ok: true, summary: 's', data: { a: 1 }, artifacts: [] })
  const printed = {
    content: 'two files',
    artifacts: [
      { name: 'a.csv', mime_type: 'text/csv', text: 'a,b\n' },
      { mime_type: 'application/zip', data: Buffer.from('PK').toString('base64') },
    ],
  }
  const { result: large } = await callPrinting(JSON.stringify(printed))
  expect(large.artifacts).toMatchObject([
    { name: 'a.csv', mimeType: 'text/csv', bytes: 4 },
    { mimeType: 'application/zip', bytes: 2 },
  ])
  expect(resultText(large)).toMatch(/^two files\n\[artifact handrail:[^]*\[artifact handrail:/)
})

test.each([
  ['without bytes', { mime_type: 'text/csv' }, '/artifacts/0'],
  ['whose bytes are not Base64', { mime_type: 'text/csv', data: 'a,b;c' }, '/artifacts/0/data'],
])('an artifact %s is a fault of the program (DECL-2)', async (_what, artifact, pointer) => {
  const { result } = await callPrinting(JSON.stringify({ artifacts: [artifact] }))
  expect(result.error).toMatchObject({ reason: 'invalid_output', issues: [{ pointer }] })
})
