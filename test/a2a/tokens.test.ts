import { beforeAll, describe, expect, test } from 'vitest'
import { join } from 'node:path'
import { keepOpen } from '../support/at-end.ts'
import { makeFolder } from '../support/project.ts'
import { allowAll, createShop, type Shop } from './shop.ts'
import {
  callClaims,
  callParams,
  issuer,
  listen,
  makeSigner,
  makeToken,
  openCallee,
  post,
  type Callee,
} from './two-domains.ts'

type Signer = Awaited<ReturnType<typeof makeSigner>>

const other = 'https://other.example'
const [tool, input] = ['shop.refund', { order: '17' }] as const

/** One callee for all tests of this file. */
const opened = keepOpen(async () => {
  const [shop, signer, stranger] = [createShop(), await makeSigner(), await makeSigner()]
  const callee = await openCallee(
    { tools: shop.tools, policy: { ...allowAll, tenants: { local: {}, bolt: {} } } },
    {
      tools: ['shop.refund', 'shop.read', 'shop.pack'],
      peers: [
        { issuer, keys: [signer.jwk], actor: 'caller' },
        { issuer: other, keys: [stranger.jwk], actor: 'other', tenant: 'bolt', allowedTools: ['shop.read'] },
      ],
    },
  )
  return { shop, signer, stranger, callee, url: callee.place.url }
})
let shop: Shop
let signer: Signer
let stranger: Signer
let callee: Callee
let url: string
beforeAll(() => void ({ shop, signer, stranger, callee, url } = opened()))

/** A call with a token that has these claims in place of the right ones. */
async function attempt(
  claims: Readonly<Record<string, unknown>> = {},
  {
    key = signer.key,
    ...header
  }: { key?: Signer['key'] | Uint8Array; kid?: string; typ?: string; alg?: string } = {},
): Promise<number> {
  const token = await makeToken(key, { ...callClaims(url, tool, input), ...claims }, header)
  return (await post(url, { token, params: callParams(tool, input) })).status
}

const now = (): number => Math.floor(Date.now() / 1_000)

describe('NEXT-3: a token opens nothing but its own call', () => {
  test('the right one opens it, once', async () => {
    const token = await makeToken(signer.key, callClaims(url, tool, input))
    const params = callParams(tool, input)
    expect((await post(url, { token, params })).status).toBe(200)
    expect(shop.done).toEqual([input])
    expect((await post(url, { token, params })).status).toBe(401)
    const many = await makeToken(signer.key, callClaims(url, tool, input))
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async () => (await post(url, { token: many, params })).status),
    )
    expect(statuses.toSorted((one, next) => one - next)).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 401),
    ])
    expect(shop.done).toEqual([input, input])
    shop.done.length = 0
  })

  test.each([
    ['another tool', { tool: 'shop.read' }],
    ['another input', { input: 'A'.repeat(43) }],
    ['another audience', { aud: 'https://elsewhere.example/a2a' }],
    ['a further audience', { aud: ['AUDIENCE', 'https://elsewhere.example/a2a'] }],
    ['another request', { does: 'card' }],
    ['an unknown issuer', { iss: 'https://stranger.example' }],
    ['an issuer whose keys are others', { iss: other }],
    ['a time that is over', { iat: now() - 200, exp: now() - 100 }],
    ['a time that is far away', { iat: now() - 600, exp: now() + 86_400 }],
    ['no end', { exp: undefined }],
    ['no id', { jti: undefined }],
    ['an id of any length', { jti: 'x'.repeat(10_000) }],
  ])('with %s it is refused before anything happens', async (_, claims) => {
    const { aud } = { aud: undefined, ...claims } as { aud: unknown }
    const real = Array.isArray(aud)
      ? { ...claims, aud: aud.map((each) => (each === 'AUDIENCE' ? url : each)) }
      : claims
    expect(await attempt(real)).toBe(401)
    expect(shop.done).toEqual([])
  })

  test('with a forged key, a key of another peer, or no signature it is refused', async () => {
    expect(await attempt({}, { key: stranger.key })).toBe(401)
    expect(await attempt({}, { kid: 'unknown' })).toBe(401)
    expect(await attempt({}, { typ: 'at+jwt' })).toBe(401)
    // A public key is not secret: one who signs with it as if it were one is a stranger.
    const secret = new TextEncoder().encode(signer.jwk.x)
    expect(await attempt({}, { key: secret, alg: 'HS256' })).toBe(401)
    const claims = {
      iss: issuer,
      iat: now(),
      exp: now() + 60,
      jti: 'none-1',
      ...callClaims(url, tool, input),
    }
    const parts = [{ alg: 'none', typ: 'handrail-call+jwt', kid: 'test-key' }, claims]
    const none = `${parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`
    expect((await post(url, { token: none, params: callParams(tool, input) })).status).toBe(401)
    expect((await post(url, { params: callParams(tool, input) })).status).toBe(401)
    expect(shop.done).toEqual([])
  })

  test('the input that is called with is the one that the token names, whatever stands beside it', async () => {
    const token = await makeToken(signer.key, callClaims(url, tool, input))
    const twice = {
      message: {
        ...Object(callParams(tool, input)).message,
        parts: [{ data: { tool, input } }, { data: { tool, input: {} } }],
      },
    }
    expect((await post(url, { token, params: twice })).status).toBe(400)
    const changed = callParams(tool, { order: '18' })
    expect((await post(url, { token, params: changed })).status).toBe(401)
    expect(shop.done).toEqual([])
  })

  test('a message that is not one of the protocol uses no token up', async () => {
    const token = await makeToken(signer.key, callClaims(url, tool, input))
    const params = callParams(tool, input)
    const nameless = { ...params, message: { ...Object(params).message, role: 7, parts: 'none' } }
    expect((await post(url, { token, params: nameless })).status).toBe(400)
    expect((await post(url, { token, params })).status).toBe(200)
    expect(shop.done.splice(0)).toEqual([input])
  })

  test('a task is seen and ended by its own peer alone', async () => {
    const begin = await makeToken(signer.key, callClaims(url, 'shop.read', input))
    const { body } = await post(url, { token: begin, params: callParams('shop.read', input) })
    const id = String(Object(body['result']).task.id)
    const look = async (key: Signer['key'], claims: object, method = 'GetTask') =>
      post(url, {
        token: await makeToken(key, { aud: url, does: 'get', task: id, ...claims }),
        method,
        params: { id },
      })
    expect(Object((await look(signer.key, {})).body['result'])).toMatchObject({ id })
    expect((await look(stranger.key, { iss: other })).body).toMatchObject({ error: { code: -32001 } })
    expect((await look(signer.key, {}, 'CancelTask')).status).toBe(401)
    expect((await look(signer.key, { task: 'task_other' })).status).toBe(401)
    expect((await look(signer.key, { does: 'cancel' })).status).toBe(401)
  })

  test('a task that runs is seen and ended by its own peer alone', async () => {
    const own = createShop()
    const { place } = await openCallee(
      { tools: own.tools, policy: allowAll },
      {
        peers: [
          { issuer, keys: [signer.jwk], actor: 'caller' },
          { issuer: other, keys: [stranger.jwk], actor: 'other' },
        ],
      },
    )
    const claims = callClaims(place.url, 'shop.pack', input)
    const params = {
      ...callParams('shop.pack', input),
      configuration: { returnImmediately: true },
    }
    const { body } = await post(place.url, { token: await makeToken(signer.key, claims), params })
    const id = String(Object(body['result']).task.id)
    for (const [does, method] of [
      ['get', 'GetTask'],
      ['cancel', 'CancelTask'],
    ]) {
      const token = await makeToken(stranger.key, { iss: other, aud: place.url, does, task: id })
      const answer = await post(place.url, { token, method, params: { id } })
      expect(answer.body).toMatchObject({ error: { code: -32001 } })
    }
    expect(own.aborted).toBe(false)
    own.finish()
  })

  test('each peer is served as itself: its tenant, its tools', async () => {
    const call = async (name: string) => {
      const claims = { iss: other, ...callClaims(url, name, input) }
      return post(url, { token: await makeToken(stranger.key, claims), params: callParams(name, input) })
    }
    const refused = (await call('shop.refund')).body
    expect(Object(refused['result']).task.status.state).toBe('TASK_STATE_REJECTED')
    expect(Object((await call('shop.read')).body['result']).task.status.state).toBe('TASK_STATE_COMPLETED')
    const begins = [...callee.runtime.store.records({ tenant: 'bolt', kind: 'begin' })]
    expect(begins.map(({ text }) => JSON.parse(text).actor)).toEqual(['other', 'other'])
    expect(shop.done).toEqual([])
  })

  test('what was not opened is not there, and what is not served is refused', async () => {
    const token = await makeToken(signer.key, { aud: url, does: 'card' })
    const card = await post(url, { token, method: 'GetExtendedAgentCard', params: {} })
    expect(Object(card.body['result']).skills.map((skill: { id: string }) => skill.id)).toEqual([
      'shop.pack',
      'shop.read',
      'shop.refund',
    ])
    const open = await (await fetch(new URL('/.well-known/agent-card.json', url))).json()
    expect(Object(open).skills ?? []).toEqual([])
    for (const method of ['ListTasks', 'SendStreamingMessage', 'SubscribeToTask', 'nonsense'])
      expect((await post(url, { token, method, params: {} })).status).toBe(400)
    expect((await fetch(url)).status).toBe(405)
  })

  test('keys that are rotated open from the next request on, and those of before no more', async () => {
    const place = await listen()
    const [first, second] = [await makeSigner('first'), await makeSigner('second')]
    const peer = { issuer, actor: 'caller' }
    const rotating = await openCallee(
      { tools: createShop().tools, policy: allowAll },
      { peers: [{ ...peer, keys: [first.jwk] }], place },
    )
    const call = async ({ key, jwk: { kid } }: Signer): Promise<number> => {
      const token = await makeToken(key, callClaims(place.url, tool, input), { kid })
      return (await post(place.url, { token, params: callParams(tool, input) })).status
    }
    expect([await call(first), await call(second)]).toEqual([200, 401])
    rotating.server.change({ tools: ['*'], peers: [{ ...peer, keys: [first.jwk, second.jwk] }] })
    expect([await call(first), await call(second)]).toEqual([200, 200])
    rotating.server.change({ tools: ['*'], peers: [{ ...peer, keys: [second.jwk] }] })
    expect([await call(first), await call(second)]).toEqual([401, 200])
  })

  test('a used token stays used when the process is another one', async () => {
    const place = await listen()
    const path = join(makeFolder(), 'store.db')
    const project = makeFolder()
    const own = createShop()
    const token = await makeToken(signer.key, callClaims(place.url, tool, input))
    const serve = async () => {
      const options = { project, store: { path }, tools: own.tools, policy: allowAll }
      return openCallee(options, { peers: [{ issuer, keys: [signer.jwk], actor: 'caller' }], place })
    }
    const before = await serve()
    expect((await post(place.url, { token, params: callParams(tool, input) })).status).toBe(200)
    await before.server.close(0)
    await before.runtime.close()
    await serve()
    expect((await post(place.url, { token, params: callParams(tool, input) })).status).toBe(401)
    expect(own.done).toEqual([input])
  })
})
