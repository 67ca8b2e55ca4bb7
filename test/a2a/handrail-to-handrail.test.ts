import { decodeJwt, decodeProtectedHeader } from 'jose'
import { defineTool } from 'handrail'
import { expect, test } from 'vitest'
import { cardOf, issuer, makeKeys, openCallee, openCaller } from './two-domains.ts'

const allowAll = { rules: [{ effect: 'allow', tools: ['*'] }] } as const

/** What the tools of the other side were called with. */
function createShop() {
  const done: unknown[] = []
  const refund = defineTool({
    name: 'shop.refund',
    description: 'Refunds an order.',
    input: {
      type: 'object',
      additionalProperties: false,
      required: ['order'],
      properties: { order: { type: 'string' } },
    },
    idempotency: 'optional',
    run(input) {
      done.push(input)
      return { refunded: input['order'] ?? null }
    },
  })
  return { done, refund }
}

test('NEXT-3: a call goes to another Handrail with a token for nothing but that call, and both records name each other', async () => {
  const { path, keys } = makeKeys()
  const { done, refund } = createShop()
  const callee = await openCallee(
    { tools: [refund], policy: allowAll },
    { peers: [{ issuer, keys, actor: 'caller' }] },
  )
  const caller = await openCaller(
    { shop: { card: cardOf(callee.place) } },
    { keysPath: path, policy: allowAll },
  )
  const result = await caller.session().call('a2a.shop.shop.refund', { order: '17' })
  expect(result).toMatchObject({ ok: true, data: { refunded: '17' } })
  expect(done).toEqual([{ order: '17' }])

  const [sent] = callee.place.heard.filter(({ body }) => body.includes('"SendMessage"'))
  const token = sent?.token ?? ''
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'EdDSA', kid: keys[0]?.kid, typ: 'handrail-call+jwt' })
  const { iat = 0, exp = 0, ...claims } = decodeJwt(token)
  expect(exp - iat).toBe(60)
  expect(claims).toEqual({
    iss: issuer,
    aud: callee.place.url,
    jti: result.callId,
    does: 'call',
    tool: 'shop.refund',
    input: expect.stringMatching(/^[\w-]{43}$/),
  })

  const recordsOf = (store: typeof caller.store, kind: 'begin' | 'end') =>
    [...store.records({ tenant: 'local', kind })].map(({ text, hash }) => ({ hash, ...JSON.parse(text) }))
  const [begin] = recordsOf(callee.runtime.store, 'begin')
  const [end] = recordsOf(callee.runtime.store, 'end')
  const [own] = recordsOf(caller.store, 'end')
  expect(begin).toMatchObject({
    actor: 'caller',
    counterpart: { domain: issuer, call: result.callId, key: keys[0]?.kid },
  })
  expect(own.counterpart).toEqual({
    domain: callee.place.url,
    call: begin.call,
    record: end.hash,
    key: keys[0]?.kid,
  })
})
