import { expect, test } from 'vitest'
import type { PresentedTool } from '../../../contract/registry.ts'
import type { Runtime } from '../../../contract/runtime.ts'
import { shareJson, shareNames } from './tool-lists.ts'

/** As much of a runtime as lists stand on: its tools are of this version. */
function makeRuntime() {
  const now = { version: 1 }
  return { now, runtime: { registry: { version: () => now.version } } as unknown as Runtime }
}

const tool = (name: string, description = `Is ${name} – ü.`): PresentedTool => ({
  tool: name,
  name,
  title: name,
  description,
  inputSchema: { type: 'object' },
  presentation: 'canonical',
})
const named = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => tool(`${prefix}.t${index}`))

test.each([0, 1, 49, 50, 51, 100, 101])(
  'a list of %i tools is one JSON array, in the order of the session (REG-5, REG-9)',
  (count) => {
    const tools = named('a', count)
    const shown = tools.map(({ title, description, inputSchema }) => ({
      name: title.replace('.', '__'),
      title,
      description: description.replace(title, title.replace('.', '__')),
      inputSchema,
    }))
    const execution = { taskSupport: 'optional' }
    const marked = shown.map((each) => ({ ...each, execution }))
    for (const [first, second] of [
      ['plain', 'as_tasks'],
      ['as_tasks', 'plain'],
    ] as const) {
      const { runtime } = makeRuntime()
      const names = shareNames(runtime, tools)
      const lists = { [first]: shareJson(runtime, names, first), [second]: shareJson(runtime, names, second) }
      expect(lists['plain']?.toJSON()).toEqual(shown)
      expect(lists['as_tasks']?.toJSON()).toEqual(marked)
    }
  },
)

test('the same tools share what is made of them, also where they are described anew; others never do (REG-3)', () => {
  const { runtime } = makeRuntime()
  const names = shareNames(runtime, named('a', 3))
  const json = shareJson(runtime, names, 'plain')
  const same = shareNames(runtime, named('a', 3))
  expect(same).toBe(names)
  expect(shareJson(runtime, same, 'plain')).toBe(json)
  for (const other of [
    named('a', 2),
    named('a', 4),
    named('b', 3),
    [...named('a', 2), tool('a.t2', 'Is not.')],
  ])
    expect(shareNames(runtime, other).tools).toEqual(other)
  expect(shareNames(makeRuntime().runtime, named('a', 3))).not.toBe(names)
})

test('no more lists are kept than are asked for in turn, and none of before a change (REG-7)', () => {
  const { runtime, now } = makeRuntime()
  const take = (prefix: string) => shareNames(runtime, named(prefix, 1))
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(take)
  expect(['a', 'b', 'c', 'd'].map(take)).toEqual([a, b, c, d])
  const e = take('e')
  expect([take('b') === b, take('a') === a]).toEqual([true, false])
  now.version++
  const kept = take('b')
  take('new')
  expect([kept === b, take('b') === b, take('e') === e]).toEqual([true, true, false])
})
