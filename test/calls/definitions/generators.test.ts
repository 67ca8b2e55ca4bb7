import { defineTool, type JsonObject, type Tool } from 'handrail'
import { z } from 'zod'
import { expect, test } from 'vitest'
import { openRuntime } from '../../support/project.ts'

const manifest = { name: 'demo.tool', description: 'Is a tool.', permission: 'readonly' } as const

async function call(tool: Tool, input: JsonObject = {}) {
  const session = (await openRuntime({ tools: [tool], store: 'memory', onError: () => {} })).session()
  const progress: object[] = []
  const result = await session.call('demo.tool', input, { onProgress: (update) => progress.push(update) })
  return { result, progress }
}

test('what a generator yields is progress, and what it returns is the result (SDK-1)', async () => {
  const tool = defineTool({
    ...manifest,
    input: z.object({ count: z.number() }),
    async *run({ count }) {
      yield 'starts'
      yield { message: 'half', done: 1, total: count }
      return { count }
    },
  })
  const { result, progress } = await call(tool, { count: 2 })
  expect(result.data).toEqual({ count: 2 })
  expect(progress).toEqual([{ message: 'starts' }, { message: 'half', done: 1, total: 2 }])
})

test('without a return, what it yielded last is the result; data is not shown before it is treated (SDK-1)', async () => {
  const tool = defineTool({
    ...manifest,
    async *run() {
      yield { mail: 'ann' }
      yield { mail: 'ann@example.com' }
    },
  })
  const { result, progress } = await call(tool)
  expect(result.data).toEqual({ mail: 'ann@example.com' })
  expect(JSON.stringify(progress)).not.toContain('ann')
  expect(progress).toHaveLength(2)
})

test('a generator that throws ends its call, and one that yields nothing has an empty result (SDK-4)', async () => {
  const failing = defineTool({
    ...manifest,
    async *run() {
      yield 'starts'
      throw new Error('The shop is closed.')
    },
  })
  const { result } = await call(failing)
  expect(result.error).toMatchObject({
    code: 'TOOL.FAILED',
    message: expect.stringContaining('closed') as string,
  })
  const silent = defineTool({ ...manifest, async *run() {} })
  expect((await call(silent)).result).toMatchObject({ ok: true, content: [] })
})

test('a call that is aborted ends its generator, which cleans up (SDK-4)', async () => {
  const steps: string[] = []
  const stop = new AbortController()
  const tool = defineTool({
    ...manifest,
    async *run({ signal }) {
      try {
        for (;;) {
          yield 'works'
          stop.abort()
          await new Promise((resolve) => setImmediate(resolve))
          steps.push(signal.aborted ? 'after' : 'before')
        }
      } finally {
        steps.push('clean')
      }
    },
  })
  const session = (await openRuntime({ tools: [tool], store: 'memory' })).session()
  const result = await session.call('demo.tool', {}, { signal: stop.signal })
  expect(result.error?.code).toBe('TOOL.ABORTED')
  expect(steps).toEqual(['after', 'clean'])
})

test('a generator that is not asynchronous is named, and what it did stands (SDK-4)', async () => {
  const tool = defineTool({ ...manifest, run: (() => (function* () {})()) as unknown as () => null })
  const { result } = await call(tool)
  expect(result.error?.reason).toBe('result_not_serialisable')
  expect(result.error?.message).toContain('Generator')
})
