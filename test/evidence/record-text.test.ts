import { createRuntime, defineTool } from 'handrail'
import { verifyEvidence } from 'handrail/evidence'
import type { Entry, Store } from 'handrail/store'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { openRuntime } from '../support/project.ts'

/** A store in memory, and everything that is handed to it. */
async function openListening(): Promise<{ store: Store; taken: Entry[] }> {
  const { store: inner } = await createRuntime()
  const taken: Entry[] = []
  const append: Store['append'] = (entries, changes) => {
    taken.push(...entries)
    return inner.append(entries, changes)
  }
  return { store: Object.create(inner, { append: { value: append } }), taken }
}

const pay = defineTool({
  name: 'shop.pay',
  description: 'Pays "so much".',
  permission: 'write',
  idempotency: 'optional',
  input: { type: 'object', properties: { sum: { type: 'integer' }, for: { type: 'string' } } },
  plan: () => ({
    operations: [{ kind: 'other', resource: 'shop "A"' }],
    scope: 'the "shop"',
  }),
  run: ({ sum }) => {
    if (sum === 13) throw new Error('no "13"')
    return { paid: sum ?? 0 }
  },
})

test('the text of a record is what JSON.stringify says of it, whatever the call, and the chain is over it (EVID-1)', async () => {
  const { store, taken } = await openListening()
  const runtime = await openRuntime({
    store,
    tools: [makeTool('say.hello'), pay],
    policy: { rules: [{ effect: 'deny', tools: ['say.hello'], roles: ['worker'] }] },
    approve: async () => ({ decision: 'allow_once', reason: 'it is "fine"' }),
  })
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  for (const options of [
    {},
    { role: 'worker' as const },
    { mode: 'plan' as const },
    { actor: 'ann@shop.example' },
  ]) {
    const session = runtime.session(options)
    const child =
      session.principal.role === 'main' ? runtime.session({ parent: session, role: 'sub' }) : undefined
    for (const each of child === undefined ? [session] : [session, child]) {
      for (let again = 0; again < 2; again++) {
        await each.call('say.hello', {}, { id: 'toolu_"1"', trace })
        await each.turn([
          { id: 'a', tool: 'say.hello', input: '{}' },
          { tool: 'say.hello', input: 'no JSON' },
        ])
        await each.call('shop.pay', { sum: 1 }, { idempotencyKey: 'order-number-17' })
        await each.call('shop.pay', { sum: 13, for: `ghp_${'a'.repeat(36)}` })
        await each.call('no "such" tool', { a: 1 })
      }
    }
    await child?.close()
    await session.close()
  }
  const texts = [...store.records({})].map(({ text }) => text)
  expect(taken.length).toBe(texts.length)
  expect(taken.filter(({ text }) => text !== undefined).length).toBeGreaterThan(texts.length / 2)
  expect(texts).toEqual(taken.map(({ record }) => JSON.stringify(record)))
  expect(verifyEvidence(store)).toMatchObject({ ok: true, records: texts.length })
  await runtime.close()
})
