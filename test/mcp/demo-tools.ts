import { setTimeout as delay } from 'node:timers/promises'
import { createFakeRuntime, fakeTool, type FakeRuntime, type FakeTool } from './fake-runtime.ts'

/** A runtime with tools that show what a door has to carry: data, progress, an end from outside, a question to a person. */
export function createDemoRuntime(more: readonly FakeTool[] = []): FakeRuntime {
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
    fakeTool({ name: 'demo.count' }, async (_input, { progress, signal }) => {
      for (const done of [1, 2, 3]) {
        progress({ message: `step ${done}`, done, total: 3 })
        await delay(5, undefined, { signal })
      }
      return { content: [{ type: 'text', text: 'counted' }] }
    }),
    fakeTool({ name: 'demo.wait' }, async (_input, { signal, progress }) => {
      progress({ message: 'waiting' })
      await delay(60_000, undefined, { signal })
      return {}
    }),
    fakeTool({ name: 'demo.write' }, async (_input, { ask, progress }) => {
      const decision = await ask('file a.txt')
      progress({ message: 'writing' })
      await delay(5)
      return { content: [{ type: 'text', text: `written: ${decision}` }] }
    }),
    fakeTool({ name: 'demo.key' }, (_input, { idempotencyKey }) => ({
      content: [{ type: 'text', text: idempotencyKey ?? 'no key' }],
    })),
    fakeTool({ name: 'demo.road' }, () => ({
      content: [{ type: 'text', text: JSON.stringify(runtime.road) }],
    })),
    ...more,
  ]
  const runtime: FakeRuntime = createFakeRuntime(tools)
  return runtime
}
