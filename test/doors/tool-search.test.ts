import type { Session } from 'handrail'
import { aiSdk } from 'handrail/ai-sdk'
import { anthropic } from 'handrail/anthropic'
import { openaiResponses } from 'handrail/openai'
import { expect, test } from 'vitest'
import { openDeferredShop } from '../support/deferred-shop.ts'
import { modelApis } from './model-apis.ts'

const open = async (): Promise<Session> =>
  (await openDeferredShop({ policy: { rules: [{ effect: 'deny', tools: ['mail.send'] }] } })).session()

const input = { query: 'select:shop.ship, mail.send' }

test.each(modelApis)(
  '$api: what is found is told by its wire name and joins the tools at their end (POOL-8)',
  async (api) => {
    const door = api.open(await open())
    const before = door.tools
    expect(api.names(before)).toEqual(['shop__look', 'tools__search'])
    const { messages } = await door.results(api.answer([{ id: 'a', name: 'tools__search', input }]))
    const [result] = api.results(messages)
    expect(result?.text).toContain('shop__ship(order_id?)')
    expect(result?.text).not.toContain('Sends an email')
    expect(api.names(door.tools)).toEqual(['shop__look', 'tools__search', 'shop__ship'])
    const called = await door.results(api.answer([{ id: 'b', name: 'shop__ship', input: {} }]))
    expect(api.results(called.messages)[0]?.text).toContain('shop.ship ran')
  },
)

test('the mark of the cache stays on the last tool that was there from the start (POOL-8)', async () => {
  const door = anthropic(await open(), { cacheControl: true })
  const before = JSON.stringify(door.tools)
  await door.results({
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'a', name: 'tools__search', input }],
  })
  expect(JSON.stringify(door.tools.slice(0, 2))).toBe(before)
  expect(door.tools[2]).not.toHaveProperty('cache_control')
})

test('Anthropic loads what was found by references (POOL-8)', async () => {
  const door = anthropic(await open(), { deferLoading: true, cacheControl: true })
  const search = { type: 'tool_use', id: 'a', name: 'tools__search', input }
  const { messages } = await door.results({ role: 'assistant', content: [search] })
  expect(messages).toEqual([
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'a',
          content: [{ type: 'tool_reference', tool_name: 'shop__ship' }],
        },
      ],
    },
  ])
  expect(door.tools.at(-1)).toMatchObject({ name: 'shop__ship', defer_loading: true })
  const none = { ...search, id: 'b', input: { query: 'select:mail.send' } }
  expect(JSON.stringify((await door.results({ role: 'assistant', content: [none] })).messages)).toContain(
    'There are no such tools here: mail',
  )
})

test.each(['canonical', 'compatible'] as const)(
  'OpenAI loads what was found from the output of the search: %s (POOL-8)',
  async (presentation) => {
    const door = openaiResponses(await open(), { deferLoading: true, presentation })
    const before = door.tools
    expect(before).toMatchObject([
      { type: 'function', name: 'shop__look' },
      { type: 'tool_search', execution: 'client' },
    ])
    const search = {
      type: 'tool_search_call',
      call_id: 'a',
      execution: 'client',
      status: 'completed',
      arguments: input,
    }
    const { messages } = await door.results({ output: [search], status: 'completed' })
    expect(messages).toMatchObject([
      {
        type: 'tool_search_output',
        call_id: 'a',
        execution: 'client',
        tools: [{ type: 'function', name: 'shop__ship', defer_loading: true }],
      },
    ])
    expect(door.tools).toEqual(before)
    expect(door.check({ tools: door.tools, input: [search, ...messages] })).toEqual([])
    const call = { type: 'function_call', call_id: 'b', name: 'shop__ship', arguments: '{}' }
    expect(JSON.stringify((await door.results({ output: [call] })).messages)).toContain('shop.ship ran')
  },
)

test('an SDK that takes its tools once is handed all that it may use, and none that searches (POOL-8)', async () => {
  const { tools } = aiSdk(await open())
  expect(Object.keys(tools).toSorted()).toEqual(['mail__send', 'shop__look', 'shop__refund', 'shop__ship'])
})
