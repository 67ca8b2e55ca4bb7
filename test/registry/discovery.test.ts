import type { ManifestSpec } from 'handrail'
import type { ToolQuery } from 'handrail/tools'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { openRuntime } from '../support/project.ts'

const network: Partial<ManifestSpec> = {
  sideEffect: 'network',
  tags: ['network', 'web'],
  capabilities: { net: { hosts: ['*'] } },
}

async function openShop() {
  const runtime = await openRuntime({
    tools: [
      makeTool('web.fetch', { ...network, title: 'Fetch a page', description: 'Reads a page of the WEB.' }),
      makeTool('web.search', { ...network, tags: ['network', 'web', 'search'] }),
      makeTool('shop.cart.add', {
        permission: 'write',
        sideEffect: 'filesystem',
        tags: ['cart'],
        capabilities: { fs: { write: ['project'] } },
        scopes: [{ resource: 'cart', action: 'write' }],
      }),
      makeTool('shop.cart.show', {
        sideEffect: 'read',
        tags: ['cart'],
        capabilities: { fs: { read: ['project'] } },
      }),
      makeTool('shopping.tips', { description: 'Says what to buy for the cart.' }),
      makeTool('danger.explode', { permission: 'write', safety: 'high', sideEffect: 'process' }),
    ],
  })
  await runtime.setToolState('web.fetch', 'paused', { by: 'ops' })
  return runtime
}

test.each<[ToolQuery, string[]]>([
  [{}, ['danger.explode', 'shop.cart.add', 'shop.cart.show', 'shopping.tips', 'web.fetch', 'web.search']],
  [{ group: 'shop' }, ['shop.cart.add', 'shop.cart.show']],
  [{ group: 'shop.cart' }, ['shop.cart.add', 'shop.cart.show']],
  [{ group: 'shop.cart.add' }, []],
  [{ tags: ['web'] }, ['web.fetch', 'web.search']],
  [{ tags: ['web', 'search'] }, ['web.search']],
  [{ safety: 'high' }, ['danger.explode']],
  [{ safety: 'medium' }, ['shop.cart.add', 'web.fetch', 'web.search']],
  [{ sideEffect: 'network' }, ['web.fetch', 'web.search']],
  [{ sideEffect: 'none' }, ['shopping.tips']],
  [{ capability: 'net' }, ['web.fetch', 'web.search']],
  [{ capability: 'fs' }, ['shop.cart.add', 'shop.cart.show']],
  [{ capability: 'fs.write' }, ['shop.cart.add']],
  [{ capability: 'browser' }, []],
  [{ keyword: 'CART' }, ['shop.cart.add', 'shop.cart.show', 'shopping.tips']],
  [{ keyword: 'page web' }, ['web.fetch']],
  [{ keyword: 'web explode' }, []],
  [{ state: 'paused' }, ['web.fetch']],
  [{ state: 'enabled', tags: ['web'] }, ['web.search']],
  [{ limit: 2 }, ['danger.explode', 'shop.cart.add']],
  [{ state: 'enabled', group: 'web', limit: 1 }, ['web.search']],
])('%j finds %j, in stable order (REG-4)', async (query, names) => {
  const { registry } = await openShop()
  expect(registry.discover(query).map(({ name }) => name)).toEqual(names)
})

test('what is found says all that an operator chooses by (REG-4)', async () => {
  const { registry } = await openShop()
  expect(registry.discover({ group: 'shop.cart', tags: ['cart'], limit: 1 })).toEqual([
    {
      name: 'shop.cart.add',
      title: 'add',
      version: '1.0.0',
      description: 'Says "shop.cart.add".',
      tags: ['cart'],
      safety: 'medium',
      sideEffect: 'filesystem',
      capabilities: ['fs.write'],
      compatibility: { providers: [], models: [] },
      source: 'code',
      digest: registry.find('shop.cart.add')?.digest,
      status: { state: 'enabled', blocked: undefined, advice: undefined, changed: [] },
    },
  ])
})

test.each([
  [{ tag: 'web' }, '/tag'],
  [{ safety: 'huge' }, '/safety'],
  [{ sideEffect: 'net' }, '/sideEffect'],
  [{ capability: 'disk' }, '/capability'],
  [{ state: 'off' }, '/state'],
  [{ limit: 0 }, '/limit'],
])('a query that makes no sense is refused: %j (REG-4)', async (query, pointer) => {
  const { registry } = await openShop()
  expect(() => registry.discover(query as ToolQuery)).toThrow(
    expect.objectContaining({ code: 'invalid_options', issues: [expect.objectContaining({ pointer })] }),
  )
})
