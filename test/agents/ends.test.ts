import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError, type Policy } from 'handrail'
import type { RunResult } from 'handrail/agents'
import { describe, expect, test } from 'vitest'
import { gatedTool } from '../support/gated-tool.ts'
import { modelSaying, silentStream, toldResults, type Said } from '../support/mock-model.ts'
import { personSaying } from '../support/project.ts'
import { openProject, read, write } from './open-project.ts'

const done: Said = { text: 'Done.' }
const nothing = { prompt: [] }

test('a run that completed goes on with a prompt, in the same conversation, and not without one (AGENT-3)', async () => {
  const { runtime } = await openProject()
  const { model, asked } = modelSaying([done, { text: 'And more.' }])
  const { id } = await (await runtime.run({ model, prompt: 'Do it.' })).result
  await expect(runtime.run({ model, resume: id })).rejects.toThrow(/has completed. Say with "prompt"/)
  const result = await (await runtime.run({ model, resume: id, prompt: 'More.' })).result
  expect(result).toMatchObject({ id, endReason: 'completed', text: 'And more.', turns: 2 })
  expect(asked[1]?.prompt.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
  expect(runtime.runs.find(id)).toMatchObject({ state: 'ended', endReason: 'completed', turns: 2 })
  expect(runtime.runs.list()).toHaveLength(1)
})

test('a run ends after maxTurns answers, their calls made, and counts anew when it is resumed (AGENT-3)', async () => {
  const { runtime } = await openProject()
  const { model, asked } = modelSaying([read, read, read, done])
  const first = await (await runtime.run({ model, prompt: 'Go.', maxTurns: 2 })).result
  expect(first).toMatchObject({ endReason: 'max_turns', turns: 2, text: 'I look. ' })
  expect(runtime.runs.transcript(first.id).at(-1)).toMatchObject({ type: 'tool' })
  const second = await (await runtime.run({ model, resume: first.id })).result
  expect(second).toMatchObject({ endReason: 'completed', turns: 4 })
  expect(asked).toHaveLength(4)
})

test('an abort ends a model that hears of nothing, before its answer and in the middle of it (AGENT-3)', async () => {
  const { runtime } = await openProject()
  const streams = [() => new Promise<never>(() => undefined), async () => ({ stream: silentStream() })]
  for (const doStream of streams) {
    const { model, asked } = modelSaying([done])
    const { promise: isAsked, resolve } = Promise.withResolvers<void>()
    const deaf = {
      specificationVersion: 'v4',
      provider: 'deaf',
      modelId: 'deaf',
      doStream: (): PromiseLike<{ stream: ReadableStream<unknown> }> => {
        resolve()
        return doStream()
      },
    }
    const run = await runtime.run({ model: deaf, prompt: 'Go.' })
    await isAsked
    run.abort('enough')
    expect(await run.result).toMatchObject({ endReason: 'aborted', turns: 0, text: '' })
    expect(await (await runtime.run({ model, resume: run.id })).result).toMatchObject({
      endReason: 'completed',
    })
    expect(asked[0]?.prompt.map(({ role }) => role)).toEqual(['system', 'user'])
  }
})

test('a signal that is aborted already lets nothing be asked (AGENT-3)', async () => {
  const { runtime } = await openProject()
  const { model, asked } = modelSaying([done])
  const run = await runtime.run({ model, prompt: 'Go.', signal: AbortSignal.abort() })
  expect(await run.result).toMatchObject({ endReason: 'aborted', turns: 0 })
  expect(asked).toEqual([])
})

describe('while calls run', () => {
  const gated: Said = {
    calls: [
      { tool: 't__gated', input: { id: '1' } },
      { tool: 'code__write_file', input: { path: 'b.txt', content: 'x' } },
    ],
  }

  test.each(['run.abort', 'session.abort', 'runtime.close', 'session.close'] as const)(
    '%s ends the run with aborted_tools, each call has its result, and none is repeated (AGENT-3)',
    async (how) => {
      const gate = gatedTool({ onAbort: () => 'stopped' })
      const { project, runtime } = await openProject({ tools: [gate.tool] })
      const { model, asked } = modelSaying([gated, done])
      const session = runtime.session()
      const run = await runtime.run({ model, prompt: 'Go.', session })
      await gate.started('1')
      if (how === 'run.abort') run.abort('enough')
      if (how === 'session.abort') session.abort(`${run.id}.2.1`, 'enough')
      if (how === 'runtime.close') await runtime.close()
      if (how === 'session.close') await session.close()
      const result = await run.result
      expect(result).toMatchObject({ endReason: 'aborted_tools', turns: 1 })
      expect(existsSync(join(project, 'b.txt'))).toBe(false)
      if (how === 'runtime.close') return
      if (how !== 'session.abort')
        expect(runtime.runs.transcript(run.id).at(-1)).toMatchObject({
          type: 'tool',
          content: [{ toolCallId: 'call_0' }, { toolCallId: 'call_1' }],
        })
      if (how === 'session.close') return
      for (const { id } of runtime.approvals.list())
        await runtime.approvals.decide(id, { decision: 'deny', by: 'ann' })
      expect(await (await runtime.run({ model, resume: run.id, session })).result).toMatchObject({
        endReason: 'completed',
      })
      expect(toldResults(asked[1] ?? nothing)).toHaveLength(2)
      expect(gate.seen).toEqual(['+1', '-1'])
    },
  )
})

describe('a call that waits for a person', () => {
  test('ends the run with what waits; resumed before the answer it waits on, after it the call runs once (AGENT-3, PERM-3)', async () => {
    const { project, runtime } = await openProject()
    const { model, asked } = modelSaying([write, done])
    const first = await (await runtime.run({ model, prompt: 'Write.' })).result
    expect(first).toMatchObject({
      endReason: 'approval_pending',
      waiting: [{ state: 'waiting', request: { tool: 'code.write_file' } }],
    })
    const again = await (await runtime.run({ model, resume: first.id })).result
    expect(again).toMatchObject({ endReason: 'approval_pending', waiting: [{ id: first.waiting[0]?.id }] })
    expect(asked).toHaveLength(1)
    await runtime.approvals.decide(first.waiting[0]?.id ?? '', { decision: 'allow_once', by: 'ann' })
    const last = await (await runtime.run({ model, resume: first.id })).result
    expect(last).toMatchObject({ endReason: 'completed', turns: 2 })
    expect(readFileSync(join(project, 'b.txt'), 'utf8')).toBe('new')
  })

  test('and is denied, is told to the model (AGENT-3, PERM-3)', async () => {
    const { project, runtime } = await openProject()
    const { model, asked } = modelSaying([write, done])
    const first = await (await runtime.run({ model, prompt: 'Write.' })).result
    await runtime.approvals.decide(first.waiting[0]?.id ?? '', {
      decision: 'deny',
      by: 'ann',
      reason: 'not now',
    })
    const last = await (await runtime.run({ model, resume: first.id })).result
    expect(last).toMatchObject({ endReason: 'completed' })
    expect(toldResults(asked[1] ?? nothing)).toEqual([expect.stringContaining('not now')])
    expect(existsSync(join(project, 'b.txt'))).toBe(false)
  })

  test('takes no prompt before it is over (AGENT-3)', async () => {
    const { runtime } = await openProject()
    const { model } = modelSaying([write])
    const first = await (await runtime.run({ model, prompt: 'Write.' })).result
    await expect(runtime.run({ model, resume: first.id, prompt: 'Stop.' })).rejects.toThrow(
      /Calls of the run .* are not over/,
    )
  })

  test('lets a run with wait go on as soon as it is answered, without an approver in the process (AGENT-3, PERM-3)', async () => {
    const { project, runtime } = await openProject()
    const { model } = modelSaying([write, done])
    const run = await runtime.run({ model, prompt: 'Write.', wait: true })
    for await (const event of run)
      if (event.type === 'approval_waiting')
        await runtime.approvals.decide(event.approval.id, { decision: 'allow_once', by: 'ann' })
    expect(await run.result).toMatchObject({ endReason: 'completed' })
    expect(readFileSync(join(project, 'b.txt'), 'utf8')).toBe('new')
  })

  test('aborted while it waits, it can be answered later (AGENT-3)', async () => {
    const { project, runtime } = await openProject()
    const { model } = modelSaying([write, done])
    const run = await runtime.run({ model, prompt: 'Write.', wait: true })
    for await (const event of run) if (event.type === 'approval_waiting') run.abort('later')
    expect(await run.result).toMatchObject({ endReason: 'aborted_tools' })
    const [open] = runtime.approvals.list()
    await runtime.approvals.decide(open?.id ?? '', { decision: 'allow_once', by: 'ann' })
    expect(await (await runtime.run({ model, resume: run.id })).result).toMatchObject({
      endReason: 'completed',
    })
    expect(readFileSync(join(project, 'b.txt'), 'utf8')).toBe('new')
  })

  test('asks the approver of the process, in a run with wait, also in one that is resumed with it (AGENT-3)', async () => {
    const person = personSaying('allow_once')
    const { runtime } = await openProject()
    const { model } = modelSaying([write, done])
    const first = await (await runtime.run({ model, prompt: 'Write.' })).result
    const session = { approve: person.approve }
    const last = await (await runtime.run({ model, resume: first.id, wait: true, session })).result
    expect(last).toMatchObject({ endReason: 'completed' })
    expect(person.asked).toHaveLength(1)
    expect(runtime.approvals.list()).toEqual([])
  })

  test('ends the wait when its time is over, with a no (AGENT-3, PERM-3)', async () => {
    const { runtime } = await openProject({ limits: { pendingApprovalMs: 50 } })
    const { model, asked } = modelSaying([write, done])
    const run = await runtime.run({ model, prompt: 'Write.', wait: true })
    expect(await run.result).toMatchObject({ endReason: 'completed' })
    expect(toldResults(asked[1] ?? nothing)).toHaveLength(1)
  })
})

test('the last call that a session may make ends the run, with a result for each call (AGENT-3, SCHED-5)', async () => {
  const { runtime } = await openProject({ limits: { callsPerSession: 1 } })
  const { model } = modelSaying([{ calls: [...(read.calls ?? []), ...(read.calls ?? [])] }, done])
  const result = await (await runtime.run({ model, prompt: 'Go.' })).result
  expect(result).toMatchObject({
    endReason: 'budget_exceeded',
    error: { code: 'QUOTA.BUDGET_EXCEEDED', reason: 'calls' },
  })
  expect(await (await runtime.run({ model, resume: result.id })).result).toMatchObject({
    endReason: 'completed',
  })
})

test('a budget of tokens ends a run before the next answer, and it goes on when there is room again (AGENT-3, AUTH-4)', async () => {
  const policy = (limit: number): Policy => ({ budgets: [{ id: 'small', unit: 'tokens', limit }] })
  const { runtime } = await openProject({ policy: policy(20) })
  const { model, asked } = modelSaying([{ ...read, tokens: { input: 15, output: 5 } }, done])
  const result = await (await runtime.run({ model, prompt: 'Go.' })).result
  expect(result).toMatchObject({
    endReason: 'budget_exceeded',
    turns: 1,
    error: { code: 'QUOTA.BUDGET_EXCEEDED', reason: 'tokens', data: { budget: 'small' } },
  })
  expect(asked).toHaveLength(1)
  await runtime.reload({ policy: policy(100_000) })
  expect(await (await runtime.run({ model, resume: result.id })).result).toMatchObject({
    endReason: 'completed',
  })
})

const refused = Object.assign(new Error('bad key'), { statusCode: 401 })
const output = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] }

test.each<[reason: string, answers: readonly (Said | Error)[], more: object]>([
  ['model_failed', [new Error('no route')], {}],
  ['model_failed', [{ text: 'Half', finish: 'error' }], {}],
  ['model_refused', [refused], {}],
  ['empty_answer', [{}], {}],
  ['empty_answer', [{ text: '  \n' }], {}],
  ['answer_cut_off', [{ text: 'Half', finish: 'length' }], {}],
  ['answer_cut_off', [{ parts: [{ type: 'text-delta', id: '1', delta: 'Half' }] }], {}],
  ['answer_filtered', [{ text: '', finish: 'content-filter' }], {}],
  ['wrong_answer', [{ text: 'no' }, { text: '{}' }, { text: '{"sum": "1"}' }], { output }],
])('a run that failed with %s can be resumed (AGENT-3)', async (reason, answers, more) => {
  const { runtime } = await openProject()
  const { model, asked } = modelSaying([...answers, { text: '{"sum": 3}' }])
  const failed = await (await runtime.run({ model, prompt: 'Add.', ...more })).result
  expect(failed).toMatchObject({ endReason: 'failed', error: { code: 'PROVIDER.UNAVAILABLE', reason } })
  expect(runtime.runs.find(failed.id)).toMatchObject({ endReason: 'failed', error: { reason } })
  const result = await (await runtime.run({ model, resume: failed.id })).result
  expect(result).toMatchObject({ endReason: 'completed', text: '{"sum": 3}' })
  expect(result.error).toBeUndefined()
  // No provider takes two answers in a row, or an empty one.
  const roles = asked.at(-1)?.prompt.map(({ role }) => role)
  expect(roles?.at(-1)).toBe('user')
})

describe('a run belongs to whom it was started for', () => {
  const resumed = (result: RunResult) => ({ resume: result.id, prompt: 'More.' })

  test('another tenant knows nothing of it, and another actor cannot go on with it (AGENT-3, AUTH-6)', async () => {
    const { runtime } = await openProject({ policy: { tenants: { acme: {}, zeta: {} } } })
    const { model } = modelSaying([done, done])
    const session = { tenant: 'acme', actor: 'ann' }
    const result = await (await runtime.run({ model, prompt: 'Go.', session })).result
    for (const other of [{}, { session: { tenant: 'zeta' } }, { session: runtime.session() }])
      await expect(runtime.run({ model, ...resumed(result), ...other })).rejects.toMatchObject({
        code: 'unknown_run',
      })
    for (const other of [
      { tenant: 'acme', actor: 'bob' },
      runtime.session({ tenant: 'acme', actor: 'bob' }),
      runtime.session({ tenant: 'acme', actor: 'ann' }),
    ])
      await expect(runtime.run({ model, ...resumed(result), session: other })).rejects.toThrow(SetupError)
    expect(runtime.runs.list()).toEqual([])
    expect(runtime.runs.find(result.id, 'zeta')).toBeUndefined()
    expect(() => runtime.runs.transcript(result.id)).toThrow(/never a run/)
    const own = await runtime.run({ model, ...resumed(result), session: { tenant: 'acme' } })
    expect(await own.result).toMatchObject({ endReason: 'completed' })
    expect(runtime.runs.find(result.id, 'acme')).toMatchObject({ tenant: 'acme', actor: 'ann' })
  })
})

test('what cannot be a run is refused with every issue, and nothing is kept (AGENT-3)', async () => {
  const { runtime } = await openProject()
  const { model } = modelSaying([])
  const faulty = { model: 'gpt-5', prompt: ' ', maxTurns: 0, ouput: {}, price: { input: -1 } }
  await expect(runtime.run(faulty as never)).rejects.toMatchObject({
    code: 'invalid_options',
    issues: expect.arrayContaining(
      ['/model', '/prompt', '/maxTurns', '/ouput', '/price/output', '/price/input'].map((pointer) =>
        expect.objectContaining({ pointer }),
      ),
    ),
  })
  await expect(runtime.run({ model } as never)).rejects.toThrow(/what the agent is to do/)
  await expect(runtime.run({ model, resume: 'run_1' })).rejects.toMatchObject({ code: 'unknown_run' })
  expect(runtime.runs.list()).toEqual([])
})
