import { join } from 'node:path'
import { createRuntime, defineTool, type CallRequest, type RuntimeOptions } from 'handrail'
import { atEnd } from './at-end.ts'
import { makeFolder } from './project.ts'

const order = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] } as const

/** A shop whose refunds ask, and what it really did. */
export function makeShop() {
  const done: string[] = []
  const refund = defineTool({
    name: 'shop.refund',
    description: 'Pays an order back.',
    permission: 'write',
    input: order,
    run: (input) => {
      done.push(input.order)
      return { refunded: input.order }
    },
  })
  const look = defineTool({
    name: 'shop.look',
    description: 'Looks an order up.',
    permission: 'readonly',
    input: order,
    run: (input) => ({ state: `paid ${input.order}` }),
  })
  const brief = defineTool({
    name: 'shop.brief',
    description: 'Asks for a yes that holds for a minute.',
    permission: 'write',
    consent: { required: true, validForMs: 60_000 },
    input: order,
    run: (input) => input.order,
  })
  return { done, tools: [refund, look, brief] }
}

/** A runtime of its own, as another process would have it, on the same file. */
export async function openShop(path: string, options: RuntimeOptions = {}) {
  const shop = makeShop()
  const runtime = await createRuntime({
    project: project(path),
    tools: shop.tools,
    store: { path },
    ...options,
  })
  atEnd(() => runtime.close())
  return { ...shop, runtime }
}

const projects = new Map<string, string>()
function project(path: string): string {
  const known = projects.get(path) ?? makeFolder()
  projects.set(path, known)
  return known
}

/** A place for a store. */
export const makeStore = (): string => join(makeFolder(), 'store.db')

/** A call that asks. */
export const refundOf = (id: string, what = '12'): CallRequest => ({
  id,
  tool: 'shop.refund',
  input: { order: what },
})
