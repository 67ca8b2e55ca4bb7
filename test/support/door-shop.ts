import { defineTool, ToolFailure, toolOutput, type RuntimeOptions } from 'handrail'
import { images } from './images.ts'
import { makeStore, openShop } from './shop.ts'

const none = { type: 'object', properties: {} } as const

/** Tools whose results have every form that a door of an agent SDK has to carry. */
export function makeResultTools(seen: string[] = []) {
  const look = { permission: 'readonly', input: none } as const
  return [
    defineTool({
      ...look,
      name: 'shop.photo',
      description: 'Shows the shop. See also shop.look.',
      run: () =>
        toolOutput({
          content: [
            { type: 'text', text: 'the shop' },
            { type: 'image', data: images['image/png'].toString('base64'), mimeType: 'image/png' },
          ],
        }),
    }),
    defineTool({
      ...look,
      name: 'shop.broken',
      description: 'Fails.',
      run: () => {
        throw new ToolFailure({ reason: 'broken', message: 'Use shop.look instead.' })
      },
    }),
    defineTool({
      ...look,
      name: 'shop.report',
      description: 'Returns much.',
      run: () => 'line of a long report\n'.repeat(20_000),
    }),
    defineTool({
      ...look,
      name: 'shop.count',
      description: 'Counts.',
      run: async (_, { progress }) => {
        progress({ message: 'counted a half', done: 1, total: 2 })
        await new Promise(setImmediate)
        return { counted: 2 }
      },
    }),
    defineTool({
      name: 'shop.write',
      description: 'Writes.',
      permission: 'write',
      input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      // What is called first is planned last.
      plan: async ({ id }) => {
        for (let ticks = id === 'a' ? 20 : 0; ticks > 0; ticks--) await new Promise(setImmediate)
        return { operations: [] }
      },
      run: async ({ id }) => {
        seen.push(`+${id}`)
        await new Promise(setImmediate)
        seen.push(`-${id}`)
        return id
      },
    }),
  ]
}

/** A shop with those tools too, in which `shop.write` never asks. */
export async function openDoorShop(path = makeStore(), options: RuntimeOptions = {}) {
  const seen: string[] = []
  const policy = { rules: [{ effect: 'allow' as const, tools: ['shop.write'] }] }
  const shop = await openShop(path, { policy, ...options })
  await shop.runtime.register(makeResultTools(seen))
  return { ...shop, seen, path }
}
