import { defineTool, type Session } from 'handrail'
import { expect, test } from 'vitest'
import { gatedTool } from '../../support/gated-tool.ts'
import { makeTool } from '../../support/make-tool.ts'
import { openRuntime } from '../../support/project.ts'

test('a runtime closes while a parent and its child both have a call that runs (SCHED-6)', async () => {
  const gated = gatedTool({ onAbort: (id) => `${id} heard it` })
  const runtime = await openRuntime({ tools: [gated.tool] })
  const parent = runtime.session()
  const child = runtime.session({ parent, allowedTools: ['t.gated'] })
  const calls = [parent.call('t.gated', { id: 'above' }), child.call('t.gated', { id: 'below' })]
  await Promise.all([gated.started('above'), gated.started('below')])
  await runtime.close()
  expect((await Promise.all(calls)).map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted'])
})

test('whoever closes a session or a runtime a second time waits until it is closed (SDK-6)', async () => {
  const gated = gatedTool()
  const runtime = await openRuntime({ tools: [gated.tool], limits: { abortGraceMs: 600_000 } })
  const session = runtime.session()
  const call = session.call('t.gated', { id: 'one' })
  await gated.started('one')
  const over: string[] = []
  const closings = [
    session.close().then(() => over.push('session')),
    session.close().then(() => over.push('session again')),
    runtime.close().then(() => over.push('runtime')),
    runtime.close().then(() => over.push('runtime again')),
  ]
  await new Promise(setImmediate)
  expect(over).toEqual([])
  gated.release('one')
  await Promise.all(closings)
  expect(over.toSorted()).toEqual(['runtime', 'runtime again', 'session', 'session again'])
  expect((await call).outcome).toBe('aborted')
})

test('a tool that closes its own session when it is told to end does not keep it open (SDK-6)', async () => {
  const sessions: Session[] = []
  const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const closing = defineTool({
    name: 'demo.closing',
    description: 'Closes its own session.',
    permission: 'readonly',
    async run({ signal }) {
      signal.addEventListener('abort', () => void sessions[0]?.close().then(gate.resolve))
      started.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  })
  const runtime = await openRuntime({ tools: [closing] })
  const own = runtime.session()
  sessions.push(own)
  const call = own.call('demo.closing')
  await started.promise
  await runtime.close()
  await gate.promise
  expect((await call).outcome).toBe('aborted')
})

test('a call after the end says what is closed, and what to do (CALL-5)', async () => {
  const issues: unknown[] = []
  const runtime = await openRuntime({ tools: [makeTool('demo.say')], onError: (issue) => issues.push(issue) })
  const [closed, open] = [runtime.session(), runtime.session()]
  await closed.close()
  const sessionClosed = {
    code: 'TOOL.ABORTED',
    reason: 'run_cancelled',
    message: 'The session is closed. Open a new one.',
  }
  expect((await closed.call('demo.say')).error).toMatchObject(sessionClosed)
  expect(await closed.preflight('demo.say')).toMatchObject({ effect: 'deny', error: sessionClosed })
  await runtime.close()
  const runtimeClosed = {
    ...sessionClosed,
    message: 'The runtime is closed. Make a new one with createRuntime.',
  }
  expect((await open.call('demo.say')).error).toMatchObject(runtimeClosed)
  expect(await open.preflight('demo.say')).toMatchObject({ effect: 'deny', error: runtimeClosed })
  expect(issues).toEqual([])
})

test('preflight of a session whose signal is aborted says that a call would be aborted (CALL-1, SCHED-4)', async () => {
  const ending = new AbortController()
  const runtime = await openRuntime({ tools: [makeTool('demo.say')] })
  const session = runtime.session({ signal: ending.signal })
  expect((await session.preflight('demo.say')).effect).toBe('allow')
  ending.abort()
  const aborted = { code: 'TOOL.ABORTED', reason: 'aborted_by_user' }
  expect((await session.call('demo.say')).error).toMatchObject(aborted)
  expect(await session.preflight('demo.say')).toMatchObject({ effect: 'deny', error: aborted })
})
