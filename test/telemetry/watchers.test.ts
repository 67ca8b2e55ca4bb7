import { defineTool, type RuntimeOptions } from 'handrail'
import type { CallObserver } from 'handrail/telemetry'
import { expect, onTestFinished, test, vi } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { openRuntime } from '../support/project.ts'

/** What is written to stderr while the test runs. */
function readStderr(): readonly string[] {
  const lines: string[] = []
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((line) => lines.push(String(line)) > 0)
  onTestFinished(() => {
    write.mockRestore()
  })
  return lines
}

/** Functions that return nothing, as far as their types say. */
// oxlint-disable-next-line typescript/no-misused-promises -- that is what this is about
const rejects: () => void = () => Promise.reject(new Error('the watcher failed'))
const throws: () => void = () => {
  throw new Error('the watcher failed')
}

function watchedBy(fail: () => void): Record<string, RuntimeOptions> {
  const observer: CallObserver = {
    began: fail,
    enters: fail,
    within: (_, run) => run(),
    ended: fail,
  }
  return {
    onEvent: { onEvent: fail },
    observer: { observers: [observer] },
    'session.on': {},
    'runtime.on': {},
  }
}

test.each([
  ['rejects', rejects],
  ['throws', throws],
])('a watcher that %s is told to the log and changes nothing (EVID-5, SDK-4)', async (_, fail) => {
  for (const [who, options] of Object.entries(watchedBy(fail))) {
    const issues: string[] = []
    const runtime = await openRuntime({
      tools: [makeTool('a.b')],
      ...options,
      onError: ({ cause }) => void issues.push(String(cause)),
    })
    const session = runtime.session()
    if (who === 'session.on') session.on(fail)
    if (who === 'runtime.on') runtime.on(fail)
    expect(await session.call('a.b'), who).toMatchObject({ ok: true, data: 'a.b' })
    await vi.waitFor(() => expect(issues, who).toContain('Error: the watcher failed'))
  }
})

test.each([
  ['rejects', rejects],
  ['throws', throws],
])('a log of issues that %s changes nothing either: stderr has both (EVID-5)', async (_, fail) => {
  const lines = readStderr()
  const runtime = await openRuntime({
    tools: [makeTool('a.b')],
    onEvent: () => {
      throw new Error('an event')
    },
    onError: fail,
  })
  expect((await runtime.session().call('a.b')).ok).toBe(true)
  await vi.waitFor(() => {
    expect(lines.join('')).toMatch(/^handrail: fault a\.b call_\w+: an event$/m)
    expect(lines.join('')).toMatch(/^handrail: fault a\.b call_\w+: "onError" failed: the watcher failed$/m)
  })
})

const revoked = Proxy.revocable({}, {})
revoked.revoke()

test.each<[string, unknown]>([
  ['a revoked Proxy', revoked.proxy],
  [
    'an error that cannot be read',
    Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('no')
      },
    }),
  ],
  ['an object without a text', Object.create(null)],
])('%s as a cause is a line of the log (EVID-5)', async (_, cause) => {
  const lines = readStderr()
  const runtime = await openRuntime({
    tools: [makeTool('a.b')],
    hooks: [{ name: 'h', after: () => Promise.reject(cause) }],
    observers: [
      {
        began: () => {
          throw cause
        },
        enters: () => {},
        within: (__, run) => run(),
        ended: () => {},
      },
    ],
  })
  expect((await runtime.session().call('a.b')).ok).toBe(true)
  expect(lines.join('')).toMatch(/^handrail: fault a\.b call_\w+: .+$/m)
})

test('what a fault line says is free of secrets (OUT-4)', async () => {
  const lines = readStderr()
  const token = ['ghp_', 'k'.repeat(36)].join('')
  const tool = defineTool({
    name: 'a.b',
    description: 'Takes a text.',
    permission: 'readonly',
    rawInput: { type: 'object' },
    run: () => null,
  })
  const runtime = await openRuntime({
    tools: [tool],
    secrets: { DB: 'hunter2-hunter2' },
    hooks: [
      {
        name: 'post',
        after: ({ input }) => Promise.reject(new Error(`could not send ${JSON.stringify(input)}`)),
      },
      {
        on: 'PostToolUse',
        command: [
          process.execPath,
          '-e',
          'process.stdin.on("data", (text) => console.error(String(text))); process.exitCode = 1',
        ],
      },
    ],
  })
  await runtime.session().call('a.b', { token, password: 'hunter2-hunter2' })
  expect(lines.length).toBe(2)
  expect(lines.join('')).toContain('[redacted]')
  expect(lines.join('')).not.toMatch(/kkkk|hunter2/)
})

test('an observer is told of the same call from its begin to its end, though its tool is not there, and of no secret in the name (EVID-5, OUT-4)', async () => {
  const secret = 'correct-horse-battery-staple'
  const told: Parameters<CallObserver['began']>[0][] = []
  const observer: CallObserver = {
    began: (call) => void told.push(call),
    enters: (call) => void told.push(call),
    within: (_, run) => run(),
    ended: (call) => void told.push(call),
  }
  const runtime = await openRuntime({ observers: [observer], secrets: { API_KEY: secret } })
  await runtime.session().call(`no.${secret}`)
  expect(told).toHaveLength(3)
  expect(new Set(told).size).toBe(1)
  expect(JSON.stringify(told)).not.toContain(secret)
})
