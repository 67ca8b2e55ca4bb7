import type { AgentModel } from 'handrail/agents'
import type { AbortRequest } from 'handrail/policy'
import type { RuntimeEvent, Session } from 'handrail'
import type { Store } from 'handrail/store'
import { setTimeout } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { gatedTool } from '../support/gated-tool.ts'
import { modelSaying } from '../support/mock-model.ts'
import { openRuntime } from '../support/project.ts'
import { makeStore } from '../support/shop.ts'

/** Two runtimes on one store, as two processes would have it, whose tool runs until it is aborted. */
async function openTwo() {
  const path = makeStore()
  const gate = gatedTool({ onAbort: (id) => `half of ${id}`, permission: 'readonly' })
  const open = () => openRuntime({ tools: [gate.tool], store: { path } })
  const [one, other] = [await open(), await open()]
  return { one, other, gate }
}

/** Starts a call in a session, and says its id once it runs. */
async function start(session: Session, id: string, { started }: ReturnType<typeof gatedTool>) {
  const events: RuntimeEvent[] = []
  session.on((event) => events.push(event))
  const ended = session.call('t.gated', { id })
  await started(id)
  return { call: events.find(({ type }) => type === 'tool_started')?.call ?? '', ended }
}

test.each<[string, (about: { call: string; session: string }) => Omit<AbortRequest, 'by'>]>([
  ['by its id', ({ call }) => ({ call })],
  ['by its session', ({ session }) => ({ session })],
  ['by its tool', () => ({ tools: 't.*' })],
  ['by its caller', () => ({ actor: 'ann' })],
  ['with everything', () => ({})],
])(
  'a call of another process on the store is aborted %s, and the evidence says who did it',
  async (_, toScope) => {
    const { one, other, gate } = await openTwo()
    const session = one.session({ actor: 'ann' })
    const { call, ended } = await start(session, 'a', gate)
    const row = { tenant: 'local', session: session.id, call, tool: 't.gated', actor: 'ann' }
    await expect.poll(() => other.stops.running()).toMatchObject([{ ...row, here: false }])
    expect(one.stops.running('local')).toMatchObject([{ ...row, here: true }])
    const scope = toScope({ call, session: session.id })
    expect(await other.stops.abort({ ...scope, by: 'bob', reason: 'It is wrong.' })).toEqual({
      calls: [call],
      running: [],
    })
    expect((await ended).error).toMatchObject({
      code: 'TOOL.ABORTED',
      reason: 'aborted_by_user',
      message: '"t.gated" was aborted: It is wrong.',
    })
    const notes = () =>
      [...other.store.records({ kind: 'note', call })].map(({ text }) => JSON.parse(text) as object)
    await expect.poll(notes).toMatchObject([{ event: 'call_aborted', actor: 'bob', call }])
    expect(other.stops.running()).toEqual([])
  },
)

test('an abort means what ran by then and nothing else: neither others, nor a call that comes later', async () => {
  const { one, other, gate } = await openTwo()
  const { ended } = await start(one.session({ actor: 'ann' }), 'a', gate)
  for (const scope of [{ actor: 'eve' }, { session: 'none' }, { tools: 'shop.*' }, { server: 't' }])
    expect(await other.stops.abort({ ...scope, by: 'bob' })).toEqual({ calls: [], running: [] })
  const everything = other.stops.abort({ by: 'bob' })
  expect(await ended).toMatchObject({ outcome: 'aborted' })
  await everything
  const later = await start(one.session({ actor: 'ann' }), 'b', gate)
  expect(gate.open()).toBe(1)
  gate.release('b')
  expect(await later.ended).toMatchObject({ ok: true })
})

test('a call that waits for a person in another process is aborted, and what is unknown is not', async () => {
  const path = makeStore()
  const asked = Promise.withResolvers<string>()
  const gate = gatedTool({ permission: 'write' })
  const runtime = await openRuntime({
    tools: [gate.tool],
    store: { path },
    approve: ({ callId }) => {
      asked.resolve(callId)
      return new Promise(() => {})
    },
  })
  const other = await openRuntime({ tools: [gate.tool], store: { path } })
  const ended = runtime.session().call('t.gated', { id: 'a' })
  const call = await asked.promise
  expect(await other.stops.abort({ call, by: 'bob' })).toEqual({ calls: [call], running: [] })
  expect(await ended).toMatchObject({ outcome: 'aborted' })
  expect(await other.abort('call_unknown', { by: 'bob' })).toBe(false)
})

test('a call that waits for a person in another process is aborted, however late its end is written', async () => {
  const path = makeStore()
  const { store } = await openRuntime({ store: { path } })
  const written = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<string>()
  const told = Promise.withResolvers<void>()
  let isSlow = false
  const append: Store['append'] = async (...what) => {
    if (isSlow) await written.promise
    await store.append(...what)
  }
  const runtime = await openRuntime({
    tools: [gatedTool({ permission: 'write' }).tool],
    store: Object.create(store, { append: { value: append } }) as Store,
    approve: ({ callId }, signal) => {
      signal.addEventListener('abort', () => told.resolve())
      asked.resolve(callId)
      return new Promise(() => {})
    },
  })
  const other = await openRuntime({ store: { path } })
  const ended = runtime.session().call('t.gated', { id: 'a' })
  const call = await asked.promise
  isSlow = true
  vi.useFakeTimers({ toFake: ['performance'] })
  atEnd(() => void vi.useRealTimers())
  const aborted = other.stops.abort({ call, by: 'bob' })
  await told.promise
  vi.advanceTimersByTime(5_000)
  // What has given up by then says so first.
  await Promise.race([aborted, setTimeout(200)])
  written.resolve()
  expect(await aborted).toEqual({ calls: [call], running: [] })
  expect(await ended).toMatchObject({ outcome: 'aborted' })
})

test('an agent of another process is aborted with the calls of its caller', async () => {
  const { one, other, gate } = await openTwo()
  const { model } = modelSaying([{ calls: [{ tool: 't__gated', input: { id: 'a' } }] }, { text: 'never' }])
  const run = await one.run({ model, prompt: 'Go.', session: { actor: 'ann' } })
  atEnd(() => run.abort())
  await gate.started('a')
  await other.stops.abort({ actor: 'ann', by: 'bob', reason: 'enough' })
  expect(await run.result).toMatchObject({ endReason: 'aborted_tools' })
})

test('an agent that thinks is aborted with a session above its own', async () => {
  const { one, other } = await openTwo()
  const asked = Promise.withResolvers<void>()
  const model = {
    specificationVersion: 'v4',
    provider: 'mock',
    modelId: 'mock',
    doStream: ({ abortSignal }: { abortSignal: AbortSignal }) => {
      asked.resolve()
      return new Promise<never>((_, reject) => {
        abortSignal.addEventListener('abort', () => reject(abortSignal.reason as Error))
      })
    },
  } as AgentModel
  const parent = one.session({ actor: 'ann' })
  const run = await one.run({ model, prompt: 'Go.', session: { parent } })
  atEnd(() => run.abort())
  await asked.promise
  await other.stops.abort({ session: parent.id, by: 'bob' })
  expect(await run.result).toMatchObject({ endReason: expect.stringContaining('aborted') })
})
