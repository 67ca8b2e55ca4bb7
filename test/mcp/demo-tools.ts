import { setTimeout as delay } from 'node:timers/promises'
import { createFakeRuntime, fakeTool, type FakeRuntime, type FakeTool } from './fake-runtime.ts'

/** A runtime with tools that show what a door has to carry: data, progress, an end from outside, a question to a person. */
export function createDemoRuntime(more: readonly FakeTool[] = []): FakeRuntime {
  const gate = createGate()
  const tools: FakeTool[] = [
    fakeTool(
      {
        name: 'demo.echo',
        inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
        outputSchema: {
          type: 'object',
          properties: { text: { type: 'string', nullable: true } },
          required: ['text'],
        },
        annotations: { readOnlyHint: true },
      },
      (input) => ({ data: { text: input['text'] ?? null } }),
    ),
    // Goes on when the client has seen the progress and says so: a result overtakes progress in clients.
    fakeTool({ name: 'demo.count' }, async (_input, { progress }) => {
      for (const done of [1, 2, 3]) {
        progress({ message: `step ${done}`, done, total: 3 })
        await gate.pass()
      }
      return { content: [{ type: 'text', text: 'counted' }] }
    }),
    fakeTool({ name: 'demo.go' }, () => {
      gate.open()
      return {}
    }),
    fakeTool({ name: 'demo.wait' }, async (_input, { signal, progress }) => {
      progress({ message: 'waiting' })
      await delay(60_000, undefined, { signal })
      return {}
    }),
    fakeTool({ name: 'demo.write' }, async (input, { ask, progress }) => {
      const decision = await ask('file a.txt')
      progress({ message: 'writing' })
      if (input['wait'] === true) await gate.pass()
      return { content: [{ type: 'text', text: `written: ${decision}` }] }
    }),
    fakeTool({ name: 'demo.key' }, (_input, { idempotencyKey }) => ({
      content: [{ type: 'text', text: idempotencyKey ?? 'no key' }],
    })),
    fakeTool({ name: 'demo.ended' }, () => ({
      content: [{ type: 'text', text: JSON.stringify(runtime.ended) }],
    })),
    ...more,
  ]
  const runtime: FakeRuntime = createFakeRuntime(tools)
  return runtime
}

/** Lets one through for each time it was opened. */
function createGate() {
  const waiting: (() => void)[] = []
  let opened = 0
  return {
    open() {
      const next = waiting.shift()
      if (next === undefined) opened++
      else next()
    },
    async pass() {
      if (opened > 0) opened--
      else await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}
