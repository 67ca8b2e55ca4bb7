import { setTimeout as wait } from 'node:timers/promises'
import {
  defineTool,
  toolOutput,
  type ElicitationResult,
  type RuntimeEvent,
  type RuntimeOptions,
  type ToolContext,
  type ToolReturn,
} from 'handrail'
import { expect, test } from 'vitest'
import { openRuntime } from '../../support/project.ts'

const limitMs = 300
/** How long people think here. */
const thinkingMs = 900

const form = (message: string) =>
  ({ mode: 'form', message, schema: { type: 'object', properties: {} } }) as const
const yes: ElicitationResult = { action: 'accept', content: {} }

/** A session whose one tool does this, within its time. */
async function sessionWith(
  run: (context: ToolContext) => ToolReturn | Promise<ToolReturn>,
  options: RuntimeOptions,
) {
  const tool = defineTool({
    name: 'shop.ask',
    description: 'Asks.',
    permission: 'readonly',
    limits: { timeoutMs: limitMs },
    run: (context) => run(context),
  })
  const runtime = await openRuntime({ tools: [tool], store: 'memory', ...options })
  return runtime.session()
}

test('the time limit of a call stands still while somebody thinks, also over several questions at once (MCP-1)', async () => {
  const session = await sessionWith(
    async ({ elicit }) => {
      const answers = await Promise.all([elicit(form('slow')), elicit(form('quick'))])
      answers.push(await elicit(form('slow')))
      return toolOutput({ data: answers.map(({ action }) => action) })
    },
    {
      elicit: async (elicitation) => {
        if (elicitation.mode === 'form' && elicitation.message === 'slow') await wait(thinkingMs)
        return yes
      },
    },
  )
  const result = await session.call('shop.ask', {})
  expect([result.error, result.data]).toEqual([undefined, ['accept', 'accept', 'accept']])
})

test('after the answer the time goes on, and ends the call (MCP-1)', async () => {
  const session = await sessionWith(
    async ({ elicit, signal }) => {
      await elicit(form('slow'))
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
    { elicit: () => wait(thinkingMs, yes) },
  )
  const result = await session.call('shop.ask', {})
  expect(result.error).toMatchObject({ code: 'TOOL.TIMEOUT', reason: 'timed_out' })
})

test('a question that nobody answers is withdrawn in the end, the call goes on, and a late answer is none (MCP-1)', async () => {
  const late = Promise.withResolvers<ElicitationResult>()
  const events: RuntimeEvent[] = []
  let withdrawn: AbortSignal | undefined
  const session = await sessionWith(
    async ({ elicit }) => {
      const answer = await elicit(form('Anybody?'))
      late.resolve(yes)
      return toolOutput({ data: { ...answer } })
    },
    {
      limits: { elicitationTimeoutMs: 50 },
      elicit: (_elicitation, signal) => {
        withdrawn = signal
        return late.promise
      },
    },
  )
  session.on((event) => void events.push(event))
  const result = await session.call('shop.ask', {})
  expect([result.outcome, result.data]).toEqual(['ok', { action: 'cancel' }])
  expect(withdrawn?.aborted).toBe(true)
  expect(events.find(({ type }) => type === 'elicitation_answered')?.summary).toBe(
    'cancel: no person answered within 50 ms',
  )
})

test('work that waits for a person in another way has the same time, and no more (MCP-1)', async () => {
  const asking = ({ awaitPerson }: ToolContext) => awaitPerson(() => wait(thinkingMs, 'done'))
  const patient = await sessionWith(asking, {})
  const done = await patient.call('shop.ask', {})
  expect([done.error, done.data]).toEqual([undefined, 'done'])
  const impatient = await sessionWith(asking, { limits: { elicitationTimeoutMs: 50 } })
  expect((await impatient.call('shop.ask', {})).error?.code).toBe('TOOL.TIMEOUT')
})

test('whoever stops the time again and again is ended all the same (MCP-1)', async () => {
  const session = await sessionWith(async ({ awaitPerson, signal }) => {
    while (!signal.aborted) await awaitPerson(() => wait(20))
  }, {})
  expect((await session.call('shop.ask', {})).error?.code).toBe('TOOL.TIMEOUT')
})

test('the time of a call stands still for what is asked for another one, however often it asked itself (MCP-1)', async () => {
  const session = await sessionWith(async ({ awaitPerson }) => {
    for (let each = 0; each < 16; each++) await awaitPerson(async () => {})
    return awaitPerson(() => wait(thinkingMs, 'done'), 'elsewhere')
  }, {})
  const result = await session.call('shop.ask', {})
  expect([result.error, result.data]).toEqual([undefined, 'done'])
})

test('a question that a tool leaves behind keeps no process alive (MCP-1)', async () => {
  const countTimers = () => process.getActiveResourcesInfo().filter((mode) => mode === 'Timeout').length
  const shown = Promise.withResolvers<void>()
  let asks = false
  const session = await sessionWith(
    ({ elicit }) => {
      if (asks) void elicit(form('Anybody?'))
      return 'done'
    },
    {
      elicit: () => {
        shown.resolve()
        return new Promise(() => {})
      },
    },
  )
  await session.call('shop.ask', {})
  const before = countTimers()
  asks = true
  await session.call('shop.ask', {})
  await shown.promise
  expect(countTimers()).toBe(before)
})

test('a session that closes while somebody thinks ends its call and withdraws the question (MCP-1)', async () => {
  const shown = Promise.withResolvers<AbortSignal>()
  const session = await sessionWith(({ elicit }) => elicit(form('Anybody?')), {
    elicit: (_elicitation, signal) => {
      shown.resolve(signal)
      return new Promise(() => {})
    },
  })
  const ended = session.call('shop.ask', {})
  const signal = await shown.promise
  await session.close()
  expect((await ended).error).toMatchObject({ code: 'TOOL.ABORTED', reason: 'run_cancelled' })
  expect(signal.aborted).toBe(true)
})

test('what a person takes to answer is spent from no budget of time (MCP-1)', async () => {
  let now = Date.UTC(2026, 0, 1)
  const session = await sessionWith(
    async ({ elicit }) => {
      await elicit(form('slow'))
      now += 7
      return 'done'
    },
    {
      now: () => now,
      policy: { budgets: [{ id: 'time', unit: 'wallMs', limit: 100_000 }] },
      elicit: async () => {
        now += 60_000
        return yes
      },
    },
  )
  const result = await session.call('shop.ask', {})
  expect([result.error, result.metadata.durationMs]).toEqual([undefined, 7])
  const { budget } = await session.preflight('shop.ask', {})
  expect(budget.accounts).toMatchObject([{ id: 'time', spent: 7, reserved: 0 }])
})
