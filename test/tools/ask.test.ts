import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, type Elicitation, type ElicitationHandler, type RuntimeOptions } from 'handrail'
import { userTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime } from '../support/project.ts'

const options = [{ label: 'Postgres', description: 'A server.' }, { label: 'SQLite' }]

/** A person who answers so, and what they were asked. */
function personAnswering(content: Record<string, unknown>) {
  const asked: Elicitation[] = []
  const elicit: ElicitationHandler = async (elicitation) => {
    asked.push(elicitation)
    return { action: 'accept', content: content as never }
  }
  return { asked, elicit }
}

const open = (more: RuntimeOptions = {}) => openRuntime({ tools: [userTools()], ...more })

test('a question with options goes to the person, who chooses or answers in their own words (BI-1)', async () => {
  const person = personAnswering({ chosen_1: 'SQLite', text_1: 'It is enough.' })
  const runtime = await open({ elicit: person.elicit })
  const result = await runtime.session().call('user.ask', { question: 'Which store?', options })
  expect(result.data).toEqual({
    outcome: 'answered',
    answers: [{ question: 'Which store?', chosen: ['SQLite'], text: 'It is enough.' }],
  })
  expect(result.content).toMatchObject([{ text: 'Which store?\n→ SQLite; It is enough.' }])
  expect(person.asked).toMatchObject([
    {
      mode: 'form',
      from: 'the model of this session',
      message: 'Which store?',
      schema: {
        properties: {
          chosen_1: {
            oneOf: [
              { const: 'Postgres', title: 'Postgres: A server.' },
              { const: 'SQLite', title: 'SQLite' },
            ],
          },
          text_1: { type: 'string' },
        },
      },
    },
  ])
})

test('the familiar names ask several questions at once, and let the person choose several (BI-1)', async () => {
  const person = personAnswering({ chosen_1: ['Postgres', 'SQLite'], text_2: 'soon' })
  const runtime = await open({ elicit: person.elicit })
  const session = runtime.session()
  const questions = [
    { question: 'Which stores?', header: 'Stores', options, multiSelect: true },
    { question: 'When?', header: 'Time', options: [{ label: 'Now' }], multiSelect: false },
  ]
  const result = await session.call('AskUserQuestion', { questions }, { presentation: 'compatible' })
  expect(result).toMatchObject({
    tool: 'user.ask',
    data: {
      answers: [{ chosen: ['Postgres', 'SQLite'] }, { question: 'When?', chosen: [], text: 'soon' }],
    },
  })
  const plain = { question: 'Which?', options: ['Postgres', 'SQLite'], multi_select: true }
  expect(await session.call('AskUser', plain, { presentation: 'compatible' })).toMatchObject({
    data: { answers: [{ chosen: ['Postgres', 'SQLite'] }] },
  })
  const free = personAnswering({})
  const open1 = await session.call('user.ask', { question: 'What else?' }, { elicit: free.elicit })
  expect(open1.content).toMatchObject([{ text: 'What else?\n→ (left open)' }])
})

test('without an answer the call says why, and the model goes on (BI-1)', async () => {
  const ask = async (elicit: ElicitationHandler | undefined, limits = {}) => {
    const runtime = await open({ limits, ...(elicit !== undefined && { elicit }) })
    const result = await runtime.session().call('user.ask', { question: 'Which?', options })
    return [result.ok, result.data, result.summary]
  }
  expect(await ask(undefined)).toMatchObject([
    true,
    { outcome: 'no_person', answers: [] },
    /cannot|can be asked/,
  ])
  expect(await ask(async () => ({ action: 'decline' }))).toMatchObject([true, { outcome: 'declined' }, {}])
  const silent = () => new Promise<never>(() => {})
  expect(await ask(silent, { elicitationTimeoutMs: 5 })).toMatchObject([true, { outcome: 'no_answer' }, {}])
  // What was not offered is not an answer.
  expect(await ask(personAnswering({ chosen_1: 'Oracle' }).elicit)).toMatchObject([
    true,
    { outcome: 'no_answer' },
    {},
  ])
})

test('an answer permits nothing (BI-1)', async () => {
  const project = makeFolder()
  const person = personAnswering({ chosen_1: 'Yes, delete it' })
  writeFileSync(join(project, 'a.txt'), 'a')
  const runtime = await openRuntime({ project, tools: [userTools(), codeTools()], elicit: person.elicit })
  const session = runtime.session()
  await session.call('user.ask', { question: 'May I delete a.txt?', options: [{ label: 'Yes, delete it' }] })
  expect(await session.call('code.delete_path', { path: 'a.txt' })).toMatchObject({
    outcome: 'denied',
    error: { reason: 'no_callback' },
  })
})

test('options that a person could take for one another are refused (BI-1)', async () => {
  const runtime = await open({ elicit: personAnswering({}).elicit })
  const session = runtime.session()
  for (const labels of [['a', 'a'], ['a\u200b'], [' a']]) {
    const input = { question: 'Which?', options: labels.map((label) => ({ label })) }
    expect(await session.call('user.ask', input)).toMatchObject({ error: { reason: 'invalid_input' } })
  }
})

test('a child asks the person of the session above, and an abort takes the question back (BI-1)', async () => {
  const person = personAnswering({ text_1: 'yes' })
  const runtime = await open({ elicit: person.elicit })
  const parent = runtime.session()
  const child = runtime.session({ parent, allowedTools: ['user.ask'] })
  expect(await child.call('user.ask', { question: 'Go on?' })).toMatchObject({
    data: { outcome: 'answered' },
  })
  const asked = Promise.withResolvers<AbortSignal>()
  const waiting = child.call(
    'user.ask',
    { question: 'Still?' },
    {
      elicit: (_, signal) => {
        asked.resolve(signal)
        return new Promise<never>(() => {})
      },
    },
  )
  const signal = await asked.promise
  await parent.close()
  expect([(await waiting).outcome, signal.aborted]).toEqual(['aborted', true])
})

test('options are labels or labels with what they mean, by every name of the tool, and a header stands over its question (BI-1)', async () => {
  const mixed = ['SQLite', { label: 'Postgres', description: 'A server.' }]
  const asking = { question: 'Which?', options: mixed }
  const forms = [
    ['user.ask', { ...asking, header: 'Store' }, 'Store'],
    ['AskUserQuestion', { questions: [{ ...asking, header: 'Store' }] }, 'Store'],
    ['AskUserQuestion', { questions: [asking] }, 'Answer'],
    ['AskUser', asking, 'Answer'],
  ] as const
  for (const [tool, input, title] of forms) {
    const person = personAnswering({ chosen_1: 'SQLite' })
    const runtime = await open({ elicit: person.elicit })
    const presentation = tool === 'user.ask' ? 'canonical' : 'compatible'
    const result = await runtime.session().call(tool, { ...input }, { presentation })
    expect(result).toMatchObject({ ok: true, data: { answers: [{ chosen: ['SQLite'] }] } })
    expect(person.asked).toMatchObject([
      {
        message: 'Which?',
        schema: {
          properties: {
            chosen_1: {
              title,
              oneOf: [
                { const: 'SQLite', title: 'SQLite' },
                { const: 'Postgres', title: 'Postgres: A server.' },
              ],
            },
          },
        },
      },
    ])
  }
})

test('an option that is nothing to choose is named with its place (BI-1)', async () => {
  const runtime = await open({ elicit: personAnswering({}).elicit })
  for (const options of [['a', 3], ['a', { name: 'b' }], ['a', ''], ['a', 'a'], []]) {
    const { error } = await runtime.session().call('user.ask', { question: 'Which?', options })
    expect([options, error?.message]).toEqual([options, expect.stringMatching(/options|"a" is there twice/)])
  }
})
