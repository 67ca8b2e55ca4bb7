// A shop whose refunds ask a person. The examples beside it hand it to models.
import { createRuntime, defineTool } from 'handrail'

const order = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] } as const

/** Opens it as a process that was started anew would, on the same file. */
export function openShop(path: string) {
  const look = defineTool({
    name: 'shop.look',
    description: 'Looks an order up.',
    permission: 'readonly',
    input: order,
    run: (input) => ({ order: input.order, state: 'paid' }),
  })
  const refund = defineTool({
    name: 'shop.refund',
    description: 'Pays an order back.',
    permission: 'write',
    input: order,
    run: (input) => ({ refunded: input.order }),
  })
  return createRuntime({ tools: [look, refund], store: { path } })
}
