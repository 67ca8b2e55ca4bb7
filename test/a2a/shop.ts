import { defineTool, type Policy, type Tool } from 'handrail'

/** Everything is let through. */
export const allowAll: Policy = { rules: [{ effect: 'allow', tools: ['*'] }] }

/** What was done of a shop, and its tools. */
export interface Shop {
  readonly done: unknown[]
  readonly tools: readonly Tool[]
  /** Resolves when `shop.pack` runs. */
  readonly packing: Promise<void>
  /** Lets `shop.pack` end. */
  finish(): void
  /** Whether `shop.pack` was aborted. */
  aborted: boolean
}

const order = {
  type: 'object',
  additionalProperties: false,
  required: ['order'],
  properties: { order: { type: 'string' }, note: { type: 'string' } },
} as const

/** A shop that refunds at once, and packs until it is told to stop. */
export function createShop(): Shop {
  const started = Promise.withResolvers<void>()
  const finished = Promise.withResolvers<void>()
  const done: unknown[] = []
  const refund = defineTool({
    name: 'shop.refund',
    description: 'Refunds an order.',
    input: order,
    idempotency: 'optional',
    run(input) {
      done.push(input)
      return { refunded: input['order'] ?? null }
    },
  })
  const read = defineTool({
    name: 'shop.read',
    description: 'Reads an order.',
    permission: 'readonly',
    input: order,
    run: (input) => `order ${String(input['order'])}`,
  })
  const pack = defineTool({
    name: 'shop.pack',
    description: 'Packs an order.',
    input: order,
    async run(input, { signal, progress }) {
      progress({ message: 'half way' })
      signal.addEventListener('abort', () => {
        shop.aborted = true
        finished.resolve()
      })
      started.resolve()
      await finished.promise
      if (!signal.aborted) done.push(input)
      return 'packed'
    },
  })
  const shop: Shop = {
    done,
    tools: [refund, read, pack],
    packing: started.promise,
    finish: () => finished.resolve(),
    aborted: false,
  }
  return shop
}
