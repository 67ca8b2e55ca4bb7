import type { Session } from 'handrail'
import type { PendingApprovals, SuspendedCalls } from 'handrail/approvals'
import { mastra } from 'handrail/mastra'
import { expect, test } from 'vitest'
import { openDoorShop } from '../support/door-shop.ts'

/** In the place of Mastra, whose packages take 132 MB: what `createTool` is given, and how its agents make calls. */
interface Made {
  readonly id: string
  readonly description: string
  readonly inputSchema: { readonly '~standard': { readonly jsonSchema: { input(): unknown } } }
  execute(input: unknown, context: object): Promise<unknown>
  toModelOutput(output: unknown): unknown
}

const createTool = (fields: object): Made => fields as Made

const open = (session: Session, approvals?: PendingApprovals) =>
  mastra(session, { createTool, ...(approvals && { approvals }) }).tools

/** A call of an agent. Suspending returns what the run is kept with. */
function callOf(toolCallId: string, resumeData?: unknown) {
  const suspended: SuspendedCalls[] = []
  const suspend = async (payload: SuspendedCalls) => void suspended.push(payload)
  return { suspended, agent: { toolCallId, suspend, resumeData } }
}

test('tools have flat names, plain schemas, and results in the form that Mastra hands to models (NAME-5)', async () => {
  const { runtime } = await openDoorShop()
  const tools = open(runtime.session())
  expect(tools['shop__look']).toMatchObject({ id: 'shop__look', description: 'Looks an order up.' })
  expect(tools['shop__look']?.inputSchema['~standard'].jsonSchema.input()).toMatchObject({
    required: ['order'],
  })
  const run = async (name: string, input: object = {}) => {
    const tool = tools[`shop__${name}`]
    return tool?.toModelOutput(await tool.execute(input, callOf(`call ${name}`)))
  }
  expect(await run('look', { order: '7' })).toEqual({ type: 'text', value: '{"state":"paid 7"}' })
  expect(await run('photo')).toMatchObject({ type: 'content', value: [{ type: 'text' }, { type: 'file' }] })
  expect(await run('broken')).toMatchObject({
    type: 'error-text',
    value: expect.stringContaining('shop__look'),
  })
  expect(await run('look')).toMatchObject({ type: 'error-text', value: expect.stringContaining('"order"') })
})

test('a call that asks suspends its run, and its answer counts after a restart, once (PERM-3)', async () => {
  const { runtime, path } = await openDoorShop()
  const first = callOf('call_1')
  await open(runtime.session({ actor: 'ann' }))['shop__refund']?.execute({ order: '12' }, first)
  const [question] = first.suspended.flatMap(({ approvals }) => approvals)
  expect(question).toMatchObject({ toolCallId: 'call_1', tool: 'shop__refund', preview: { kind: 'text' } })
  await runtime.close()

  const next = await openDoorShop(path)
  const refund = open(next.runtime.session({ actor: 'ann' }), next.runtime.approvals)['shop__refund']
  const answer = { decision: 'allow_once', by: 'bob' }
  const useless = [true, { decision: 'allow_once', by: 'bob' }, { apr_other: answer }]
  for (const resumeData of useless) {
    const call = callOf('call_1', resumeData)
    await refund?.execute({ order: '12' }, call)
    expect(call.suspended).toHaveLength(1)
  }
  const resumeData = { [question?.id ?? '']: answer }
  expect(await refund?.execute({ order: '13' }, callOf('call_1', resumeData))).toBeUndefined()
  expect(next.done).toEqual([])
  expect(await refund?.execute({ order: '12' }, callOf('call_1', resumeData))).toMatchObject({ ok: true })
  expect(await refund?.execute({ order: '12' }, callOf('call_1', resumeData))).toBeUndefined()
  expect(next.done).toEqual(['12'])
})

test('a no is told to the model, and without a run to suspend a call says that it waits (PERM-3)', async () => {
  const { runtime, done } = await openDoorShop()
  const refund = open(runtime.session(), runtime.approvals)['shop__refund']
  expect(await refund?.execute({ order: '12' }, { agent: { toolCallId: 'call_1' } })).toMatchObject({
    ok: false,
    outcome: 'waiting',
  })
  const [question] = runtime.approvals.list()
  const resumeData = { [question?.id ?? '']: { decision: 'deny', by: 'bob', reason: 'too much' } }
  expect(await refund?.execute({ order: '12' }, callOf('call_1', resumeData))).toMatchObject({
    outcome: 'denied',
    text: expect.stringContaining('too much'),
  })
  expect(done).toEqual([])
})
