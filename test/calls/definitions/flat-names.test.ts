import { createRuntime, defineTool, ToolAdapter } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime } from '../../support/project.ts'

const manifest = { description: 'Is a tool.', permission: 'readonly' } as const

test('a flat name with a namespace is a canonical name (NAME-1)', async () => {
  class Stock extends ToolAdapter {
    run() {
      return 3
    }
  }
  const tools = [
    defineTool({ ...manifest, namespace: 'shop', name: 'refund', run: () => 'refunded' }),
    defineTool({ ...manifest, namespace: 'shop.orders', name: 'getAll', run: () => [] }),
    new Stock({ ...manifest, namespace: 'shop', name: 'stock', inputSchema: { type: 'object' } }),
  ]
  const session = (await openRuntime({ tools, store: 'memory' })).session()
  expect(session.tools().map(({ tool, title }) => [tool, title])).toEqual([
    ['shop.orders.getAll', 'getAll'],
    ['shop.refund', 'refund'],
    ['shop.stock', 'stock'],
  ])
  expect((await session.call('shop.refund')).data).toBe('refunded')
  expect((await session.call('shop.stock')).data).toBe(3)
})

test.each([
  ['refund', '{ namespace: "shop", name: "refund" }, or the whole name: "shop.refund".'],
  ['getWeather', '{ namespace: "shop", name: "getWeather" }'],
  ['not a name', '"not a name" is not a canonical name'],
])('the name %s alone is refused at registration, with what to write (NAME-1)', async (name, words) => {
  const tool = defineTool({ ...manifest, name, run: () => null })
  await expect(createRuntime({ project: makeFolder(), tools: [tool] })).rejects.toThrow(words)
})

test('a namespace that is none is refused at registration (NAME-1)', async () => {
  for (const namespace of ['', 'a b', '.', '__proto__']) {
    const tool = defineTool({ ...manifest, namespace, name: 'refund', run: () => null })
    await expect(createRuntime({ project: makeFolder(), tools: [tool] })).rejects.toThrow(/canonical name/)
  }
})
