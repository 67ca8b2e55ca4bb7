import { createRuntime, type Tool } from 'handrail'
import { expect, test, vi } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime } from '../support/project.ts'

/** Tools that write down when they are ended. */
function createEndings() {
  const ended: string[] = []
  const tool = (id: string, about: Parameters<typeof makeTool>[1] = {}): Tool =>
    makeTool('demo.tool', { ...about, dispose: () => void ended.push(id) })
  return { ended, tool }
}

test('every tool that has a dispose is ended once, whatever became of it (SDK-6)', async () => {
  const { ended, tool } = createEndings()
  const named = (name: string) => makeTool(name, { dispose: () => void ended.push(name) })
  const runtime = await createRuntime({ project: makeFolder(), tools: [tool('v1'), named('demo.stays')] })
  await runtime.register([tool('v2', { version: '1.0.1' })], { update: true })
  await runtime.register([named('demo.removed')])
  await runtime.remove(['demo.removed'])
  await runtime.register([named('demo.of_tenant')], { tenants: ['acme', 'beta'] })
  await runtime.close()
  await runtime.close()
  expect(ended.toSorted()).toEqual(['demo.of_tenant', 'demo.removed', 'demo.stays', 'v1', 'v2'])
})

test('a tool that was not taken because of another is ended with the runtime (SDK-6)', async () => {
  const { ended, tool } = createEndings()
  const runtime = await createRuntime({
    project: makeFolder(),
    tools: [tool('first'), tool('second')],
    duplicates: 'keep-first',
    onError: () => {},
  })
  expect(ended).toEqual([])
  await runtime.close()
  expect(ended.toSorted()).toEqual(['first', 'second'])
})

test('a replaced tool is ended when the last session that can call it closes, and not before (SDK-6, REG-7)', async () => {
  const { ended, tool } = createEndings()
  const runtime = await openRuntime({ tools: [tool('v1')] })
  const one = runtime.session()
  const two = runtime.session()
  await runtime.register([tool('v2', { version: '1.0.1' })], { update: true })
  const three = runtime.session()
  await one.close()
  expect(ended).toEqual([])
  expect((await two.call('demo.tool')).ok).toBe(true)
  await two.close()
  expect(ended).toEqual(['v1'])
  await three.close()
  expect(ended).toEqual(['v1'])
})

test('a tool that no session has is ended as soon as it is replaced or removed (SDK-6)', async () => {
  const { ended, tool } = createEndings()
  const runtime = await openRuntime({ tools: [tool('v1')] })
  await runtime.register([tool('v2', { version: '1.0.1' })], { update: true })
  expect(ended).toEqual(['v1'])
  await runtime.remove(['demo.tool'])
  expect(ended).toEqual(['v1', 'v2'])
})

test('a refreshed session lets its old tools go when the last of its calls has ended (SDK-6, REG-7)', async () => {
  const { ended, tool } = createEndings()
  const gate = Promise.withResolvers<string>()
  const begun = Promise.withResolvers<void>()
  const slow: Tool = {
    ...tool('v1'),
    run() {
      begun.resolve()
      return gate.promise
    },
  }
  const runtime = await openRuntime({ tools: [slow] })
  const session = runtime.session()
  const call = session.call('demo.tool')
  await begun.promise
  await runtime.register([tool('v2', { version: '1.0.1' })], { update: true })
  session.refresh()
  expect(ended).toEqual([])
  gate.resolve('done')
  expect((await call).data).toBe('done')
  expect(ended).toEqual(['v1'])
})

test('a tool that is registered for two tenants is ended when it is taken from both (SDK-6, REG-3)', async () => {
  const { ended, tool } = createEndings()
  const runtime = await openRuntime()
  await runtime.register([tool('shared')], { tenants: ['acme', 'beta'] })
  await runtime.remove(['demo.tool'], { tenants: ['acme'] })
  expect(ended).toEqual([])
  await runtime.remove(['demo.tool'], { tenants: ['beta'] })
  expect(ended).toEqual(['shared'])
})

test('a dispose that fails or hangs is an issue and keeps nobody from closing (SDK-6)', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const issues: string[] = []
    const ended: string[] = []
    const runtime = await createRuntime({
      project: makeFolder(),
      tools: [
        makeTool('demo.hangs', { dispose: () => new Promise(() => {}) }),
        makeTool('demo.fails', {
          dispose() {
            throw new Error('no way out')
          },
        }),
        makeTool('demo.fine', { dispose: () => void ended.push('demo.fine') }),
      ],
      onError: ({ tool, cause }) => issues.push(`${tool}: ${(cause as Error).message}`),
    })
    const closed = runtime.close()
    await vi.waitFor(() => expect(ended).toEqual(['demo.fine']))
    await vi.advanceTimersByTimeAsync(5_000)
    await closed
    expect(issues).toEqual([
      'demo.fails: no way out',
      'demo.hangs: dispose of "demo.hangs" did not end within 5000 ms and is not waited for any longer',
    ])
  } finally {
    vi.useRealTimers()
  }
})
