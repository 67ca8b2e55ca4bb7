import { defineTool, type RuntimeOptions } from 'handrail'
import { taskTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { deferredShop } from '../support/deferred-shop.ts'
import { modelSaying, toldResults, type Said } from '../support/mock-model.ts'
import { makeFolder, openRuntime } from '../support/project.ts'

const search = (query: string): Said => ({ calls: [{ tool: 'tools__search', input: { query } }] })
const ship: Said = { calls: [{ tool: 'shop__ship', input: { order_id: '7' } }] }
const done: Said = { text: 'Done.' }

const open = (options: RuntimeOptions = {}) =>
  openRuntime({ tools: [...deferredShop, taskTools()], ...options })

test('in a run a model finds a tool, calls it, and what it was shown before stays the same byte by byte (POOL-8)', async () => {
  const runtime = await open()
  const { model, asked } = modelSaying([search('select:shop.ship'), ship, search('select:mail.send'), done])
  const result = await (await runtime.run({ model, prompt: 'Ship it.' })).result
  expect(result).toMatchObject({ endReason: 'completed', turns: 4 })
  const tools = asked.map((each) => each.tools ?? [])
  expect(tools.map((each) => each.map(({ name }) => name).slice(-2))).toEqual([
    ['shop__look', 'tools__search'],
    ['tools__search', 'shop__ship'],
    ['tools__search', 'shop__ship'],
    ['shop__ship', 'mail__send'],
  ])
  for (const [index, later] of tools.slice(1).entries()) {
    const before = tools[index] ?? []
    expect(JSON.stringify(later.slice(0, before.length))).toBe(JSON.stringify(before))
  }
  const told = toldResults(asked.at(-1) ?? { prompt: [] })
  expect(told[0]).toContain('shop__ship(order_id?)')
  expect(told[1]).toContain('shop.ship ran')
})

test('a run that goes on in another process has what it found (POOL-8)', async () => {
  const store = { path: `${makeFolder()}/store.db` }
  const first = await open({ store })
  const before = modelSaying([search('select:shop.ship')])
  const stopped = await (await first.run({ model: before.model, prompt: 'Ship it.', maxTurns: 1 })).result
  expect(stopped.endReason).toBe('max_turns')
  await first.close()
  const second = await open({ store })
  const { model, asked } = modelSaying([ship, done])
  expect(await (await second.run({ model, resume: stopped.id, maxTurns: 9 })).result).toMatchObject({
    endReason: 'completed',
  })
  expect(asked[0]?.tools?.at(-1)?.name).toBe('shop__ship')
})

test('a model that knows a deferred tool by name calls it; one that is denied stays denied (POOL-8)', async () => {
  const runtime = await open({ policy: { rules: [{ effect: 'deny', tools: ['mail.send'] }] } })
  const { model, asked } = modelSaying([ship, { calls: [{ tool: 'mail__send' }] }, done])
  await (
    await runtime.run({ model, prompt: 'Ship it.' })
  ).result
  const [ran, denied] = toldResults(asked.at(-1) ?? { prompt: [] })
  expect(ran).toContain('shop.ship ran')
  expect(denied).toContain('POLICY.DENY_TOOL')
  expect(asked.at(-1)?.tools?.map(({ name }) => name)).not.toContain('mail__send')
})

test('a found tool that the provider does not take is left out, and the run goes on (POOL-8, SCHEMA-4)', async () => {
  const odd = defineTool({
    name: 'shop.odd',
    description: 'Measures oddness.',
    permission: 'readonly',
    defer: true,
    rawInput: { type: 'object', properties: Object.fromEntries([['a'.repeat(300), { type: 'string' }]]) },
    run: () => 'odd',
  })
  const runtime = await openRuntime({ tools: [...deferredShop, odd] })
  const { model, asked } = modelSaying([search('select:shop.odd, shop.ship'), done], 'anthropic.messages')
  expect(await (await runtime.run({ model, prompt: 'Go.' })).result).toMatchObject({ endReason: 'completed' })
  expect(asked[1]?.tools?.map(({ name }) => name)).toContain('shop__ship')
})
