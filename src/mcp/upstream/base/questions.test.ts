import { expect, test } from 'vitest'
import type { CallBinding } from '../../../contract/mcp/direct-connection.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { answerAll, createDirectQuestions, createQuestions, type Asker, type Questions } from './questions.ts'

const server: UpstreamServer = {
  name: 'it',
  transport: { kind: 'stdio', command: 'it', args: [], env: {}, cwd: undefined, read: [], write: [] },
  hosts: [],
  timeoutMs: undefined,
  tools: { allow: ['*'], deny: [], readonly: [] },
  sampling: false,
  tenants: undefined,
  credentials: {},
}
const form = {
  method: 'elicitation/create',
  params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
}

test('a question is withdrawn with its call also when that set out a second time meanwhile (MCP-1)', async () => {
  let shown: AbortSignal | undefined
  const { promise, resolve } = Promise.withResolvers<{ action: 'decline' }>()
  const asker: Asker = {
    session: 's',
    elicit: (_, signal) => {
      shown = signal
      return promise
    },
    awaitPerson: (work) => work(),
  }
  const questions = createQuestions(server, () => {})
  questions.join(asker)
  const answered = questions.answer(form.method, form.params, new AbortController().signal)
  questions.join(asker)
  questions.leave(asker)
  expect(shown?.aborted).toBe(true)
  resolve({ action: 'decline' })
  await answered
})

test('a server gets its answers by its own keys, whatever they are called (MCP-1)', async () => {
  const asker: Asker = {
    session: 's',
    elicit: async () => ({ action: 'decline' }),
    awaitPerson: (work) => work(),
  }
  const { signal } = new AbortController()
  const requests = Object.fromEntries([['__proto__', form]])
  const given = await answerAll(requests, { server, asker, signal })
  expect(Object.entries(given)).toEqual([['__proto__', { action: 'decline' }]])
})

const binding = (answers: string): CallBinding => ({
  params: {},
  sendRequests: async () => ({ asked: { answers } }),
  notify: () => {},
})

test('a server over a direct connection asks the client of its call, and none where it may mean that of another (MCP-3)', async () => {
  const [ada, bob] = ['ada', 'bob'].map((session): Asker => ({
    session,
    elicit: async () => ({ action: 'decline' }),
    awaitPerson: (work) => work(),
  }))
  for (const isShared of [false, true]) {
    const direct = createDirectQuestions(isShared)
    const ask = () => direct.answer(form.method, form.params, new AbortController().signal)
    await expect(ask()).rejects.toThrow('no one call')
    if (ada !== undefined) direct.of(binding('ada')).join(ada)
    expect(await ask()).toEqual({ answers: 'ada' })
    if (bob !== undefined) direct.of(binding('bob')).join(bob)
    if (isShared) await expect(ask()).rejects.toThrow('no one call')
    else expect(await ask()).toEqual({ answers: 'bob' })
    if (ada !== undefined) direct.of(binding('ada')).leave(ada)
    expect(await ask()).toEqual({ answers: 'bob' })
  }
})

/** Three calls of one session that are under way, and whose time stood still, with what it counted as, each time their server asked. */
async function holdsOf(questions: Questions) {
  const holds: string[] = []
  const toAsker = (call: string): Asker => ({
    session: 's',
    elicit: async () => {
      holds.push(`${call} asks`)
      return { action: 'decline' }
    },
    awaitPerson: (work, counts) => {
      holds.push(`${call} counts ${counts ?? 'here'}`)
      return work()
    },
  })
  for (const call of ['first', 'second', 'latest']) questions.join(toAsker(call))
  await questions.answer(form.method, form.params, new AbortController().signal)
  return holds.toSorted()
}

test('a question holds the time of all calls that it may be for, and counts for one of them (MCP-1)', async () => {
  const [first, second] = ['first counts elsewhere', 'second counts elsewhere']
  expect(await holdsOf(createQuestions(server, () => {}))).toEqual([first, 'latest asks', second])
  const direct = createDirectQuestions(false)
  expect(await holdsOf({ ...direct, ...direct.of(binding('client')) })).toEqual([
    first,
    'latest counts here',
    second,
  ])
})
