import { codeTools, defineTool } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

/** A tool that runs until its abort. */
const waits = (name: string, timeoutMs: number | undefined) =>
  defineTool({
    name,
    description: 'Waits for its abort.',
    permission: 'readonly',
    ...(timeoutMs !== undefined && { limits: { timeoutMs } }),
    run: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  })

test.each([
  { own: undefined, is: 40 },
  { own: 20, is: 20 },
  { own: 60, is: 60 },
  { own: 3_600_000, is: 80 },
])('a tool that names $own ms gets $is ms: default 40, at most 80 (CALL-6)', async ({ own, is }) => {
  const runtime = await openRuntime({
    tools: [waits('t.waits', own)],
    limits: { defaultTimeoutMs: 40, maxTimeoutMs: 80 },
  })
  expect((await runtime.session().call('t.waits')).error).toMatchObject({
    code: 'TOOL.TIMEOUT',
    reason: 'timed_out',
    message: `"t.waits" was stopped at its time limit of ${is} ms. Ask for less at a time.`,
  })
  expect((await runtime.session().preflight('t.waits')).budget.timeoutMs).toBe(is)
})

test('the default is no way around the maximum (CALL-6)', async () => {
  const runtime = await openRuntime({
    tools: [waits('t.waits', undefined)],
    limits: { defaultTimeoutMs: 5_000, maxTimeoutMs: 30 },
  })
  expect((await runtime.session().preflight('t.waits')).budget.timeoutMs).toBe(30)
})

test('a project can lower the limits, not raise them (CALL-6)', async () => {
  const limitOf = async (maxTimeoutMs: number) => {
    const runtime = await openRuntime({
      tools: [waits('t.waits', 5_000)],
      limits: { maxTimeoutMs: 50 },
      projectConfiguration: { limits: { maxTimeoutMs } },
    })
    return (await runtime.session().preflight('t.waits')).budget.timeoutMs
  }
  expect([await limitOf(20), await limitOf(900)]).toEqual([20, 50])
})

test('a model that asks a command for more time than the runtime gives does not get it (CALL-6)', async () => {
  const runtime = await openRuntime({
    project: makeFolder(),
    tools: [codeTools()],
    approve: personSaying('allow_once').approve,
    limits: { maxTimeoutMs: 1_500 },
  })
  const session = runtime.session()
  // The first plan finds out what the sandbox can do.
  await session.preflight('code.run_command', { argv: [process.execPath] })
  const result = await session.call('code.run_command', {
    argv: [process.execPath, '-e', 'process.stdout.write("so far"); setTimeout(() => {}, 60_000)'],
    timeout_ms: 600_000,
  })
  expect(result).toMatchObject({
    error: { code: 'TOOL.TIMEOUT', reason: 'timed_out' },
    metadata: { aborted: true },
  })
})

test.each<[string, () => unknown]>([
  ['at once', () => block(30)],
  ['after it waited', async () => block(30)],
  [
    'in the middle',
    async () => {
      await Promise.resolve()
      return block(30)
    },
  ],
])(
  'a tool that lets nothing else run past its limit, %s, has timed out, with what it gave (CALL-6)',
  async (_, run) => {
    const tool = defineTool({
      name: 't.blocks',
      description: 'Blocks.',
      permission: 'readonly',
      limits: { timeoutMs: 5 },
      run: () => run() as never,
    })
    const session = (await openRuntime({ tools: [tool] })).session()
    const result = await session.call('t.blocks')
    expect(result).toMatchObject({
      outcome: 'failed',
      data: 'done',
      error: {
        code: 'TOOL.TIMEOUT',
        reason: 'timed_out',
        message: expect.stringContaining('could not be stopped'),
      },
      metadata: { aborted: true, partial: true, abortReason: 'timeout' },
    })
  },
)

function block(ms: number): string {
  for (const until = performance.now() + ms; performance.now() < until;);
  return 'done'
}
