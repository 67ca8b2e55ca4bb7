import { defineTool, type RuntimeOptions, type Tool, type ToolSource } from 'handrail'
import { searchTools } from 'handrail/tools'
import { makeTool } from './make-tool.ts'
import { openRuntime } from './project.ts'

/** A tool that models are not shown until it is found. */
export function makeDeferred(name: string, description: string): Tool {
  return defineTool({
    name,
    description,
    permission: 'readonly',
    defer: true,
    input: { type: 'object', properties: { order_id: { type: 'string' } } },
    run: () => `${name} ran`,
  })
}

/** One tool that is shown, and some that are found by what they do. */
export const deferredShop: readonly (Tool | ToolSource)[] = [
  searchTools(),
  makeTool('shop.look'),
  makeDeferred('mail.send', 'Sends an email to a customer.'),
  makeDeferred('shop.refund', 'Refunds an order of a customer.'),
  makeDeferred('shop.ship', 'Ships the parcel of an order.'),
]

export const openDeferredShop = (options: RuntimeOptions = {}) =>
  openRuntime({ tools: deferredShop, ...options })

/** What a search finds, by canonical name. */
export const namesIn = (data: unknown): string[] =>
  (data as { tools: { name: string }[] }).tools.map(({ name }) => name)
