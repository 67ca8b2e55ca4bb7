import { codeTools, defineTool, jobTools, type ManifestSpec, type Session } from 'handrail'
import { expect, test } from 'vitest'
import { openRuntime, personSaying } from '../../support/project.ts'

const limits = { repeatsPerSession: 3 }
const approve = personSaying('allow_once').approve

/** How many calls like this one are let through, of ten; the rest must be refused as repeats. */
async function letThrough(session: Session, tool: string, input: unknown = {}): Promise<number> {
  const reasons: (string | undefined)[] = []
  for (let round = 0; round < 10; round++) reasons.push((await session.call(tool, input)).error?.reason)
  const first = reasons.indexOf('repeats')
  expect(reasons.slice(first === -1 ? 10 : first).every((reason) => reason === 'repeats')).toBe(true)
  return reasons.filter((reason) => reason !== 'repeats').length
}

/** A tool that returns what the test says. */
const saying = (name: string, say: () => string | Promise<string>, more: Partial<ManifestSpec> = {}) =>
  defineTool({
    name,
    description: 'Says something.',
    permission: 'readonly',
    ...more,
    rawInput: { type: 'object' },
    run: say,
  })

test('the same call with the same result is refused as a repeat, one with another result is none (CALL-5, FILE-1)', async () => {
  let count = 0
  const tools = [
    saying('t.same', () => 'the same'),
    saying('t.other', () => `${count++}`),
    saying('t.fails', () => Promise.reject(new Error('no'))),
  ]
  const session = (await openRuntime({ tools, limits })).session()
  expect(await letThrough(session, 't.same')).toBe(3)
  expect(await letThrough(session, 't.other')).toBe(10)
  expect(await letThrough(session, 't.fails')).toBe(3)
  expect(await letThrough(session, 't.same', { with: 'another input' })).toBe(3)
  const { error } = await session.call('t.same')
  expect(error?.message).toContain('was called 3 times with this very input, and returned the same each time')
  expect((await session.preflight('t.same')).budget.repeats).toEqual({ used: 3, limit: 3 })
})

test('a read after a change is not a repeat, whoever of the family made the change (FILE-1, CALL-5)', async () => {
  const runtime = await openRuntime({ tools: [codeTools()], approve, limits })
  const session = runtime.session()
  const read = () => session.call('code.read_file', { path: 'a.txt' })
  const write = (by: Session, content: string) =>
    by.call('code.write_file', { path: 'a.txt', content, overwrite: true })
  for (let round = 0; round < 10; round++) {
    expect((await write(session, 'the same')).ok).toBe(true)
    expect((await write(session, `other ${round}`)).ok).toBe(true)
    expect((await read()).ok).toBe(true)
  }
  expect(await letThrough(session, 'code.read_file', { path: 'a.txt' })).toBe(2)
  await write(runtime.session({ parent: session, role: 'orchestrator' }), 'by a child')
  expect((await read()).ok).toBe(true)
})

test('two changes that undo each other are repeats all the same (CALL-5)', async () => {
  const write = { permission: 'write', sideEffect: 'write' } as const
  const tools = [saying('t.do', () => 'done', write), saying('t.undo', () => 'undone', write)]
  const session = (await openRuntime({ tools, limits, approve })).session()
  let done = 0
  for (let round = 0; round < 20; round++)
    for (const tool of ['t.do', 't.undo']) if ((await session.call(tool)).ok) done++
  expect(done).toBe(7)
})

test('how long a command took does not make it another one, and a look at a job that runs is not a repeat (FILE-7, CALL-5)', async () => {
  const runtime = await openRuntime({ tools: [codeTools(), jobTools()], approve, limits })
  const session = runtime.session()
  expect(await letThrough(session, 'code.run_command', { argv: ['true'] })).toBe(3)
  const started = await session.call('code.run_command', { argv: ['sleep', '600'], background: true })
  const { job: id } = started.data as { job: string }
  expect(await letThrough(session, 'job.output', { id })).toBe(10)
  expect((await session.call('job.stop', { id })).ok).toBe(true)
  expect(await letThrough(session, 'job.output', { id })).toBe(3)
})
