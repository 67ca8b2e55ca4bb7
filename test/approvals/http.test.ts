import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { PendingApproval } from 'handrail/approvals'
import { expect, test } from 'vitest'
import { serveAuthorization } from '../support/authorization-server.ts'
import { makePlace } from '../support/command-line.ts'
import { openShop, refundOf } from '../support/shop.ts'
import { startServer } from '../support/start-command.ts'

const caller = (id: string, more: object = {}) => ({
  id,
  actor: id,
  sha256: createHash('sha256').update(`hr_${id}`).digest('hex'),
  ...more,
})
const approvers = [{ tools: ['shop.*'], notRequester: true }]
const policy = { tenants: { acme: {} }, approvers }
const gateway = {
  tokens: [
    caller('ann'),
    caller('bob', { approver: true }),
    caller('cleo', { approver: true }),
    caller('eve', { approver: true, tenant: 'acme' }),
    caller('old', { approver: true, expiresAt: '2020-01-01T00:00:00Z' }),
  ],
}

interface Body extends Partial<PendingApproval> {
  readonly approvals: readonly PendingApproval[]
}
type Answer = { readonly status: number; readonly type: string | null; readonly body: Body }

/** A server over a store, and a program that asks on the same one. */
async function start() {
  const place = makePlace({}, { 'policy.json': policy, 'gateway.json': gateway })
  const shop = await openShop(place.store, { policy })
  const server = await startServer(place)
  const { origin } = new URL(server.url)
  const request = async (
    path: string,
    as: string | undefined,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
  ): Promise<Answer> => {
    const response = await fetch(`${origin}/approvals${path}`, {
      ...init,
      headers: { ...(as !== undefined && { authorization: `Bearer hr_${as}` }), ...init.headers },
    })
    const text = await response.text()
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
  const post = (path: string, as: string | undefined, answer: unknown) =>
    request(path, as, {
      method: 'POST',
      body: typeof answer === 'string' ? answer : JSON.stringify(answer),
      headers: { 'content-type': 'application/json' },
    })
  const ask = async (id: string, as: object = { actor: 'ann' }) => {
    const session = shop.runtime.session(as)
    const step = await session.step([refundOf(id, id)])
    const [waiting] = step.waiting
    if (waiting === undefined) throw new Error('Nothing waits.')
    return { session, step, approval: waiting.approval }
  }
  return { place, shop, server, origin, request, post, ask }
}

test('people with a token of an approver see what waits in their tenant, and answer as themselves (PERM-3, AUTH-6)', async () => {
  const { request, post, ask, shop } = await start()
  const { session, step, approval } = await ask('a')
  const foreign = await ask('b', { actor: 'zoe', tenant: 'acme' })
  const of = ({ body }: Answer): string[] => body.approvals.map(({ id }) => id)
  expect(of(await request('', 'bob'))).toEqual([approval.id])
  expect(of(await request('?tenant=acme', 'eve'))).toEqual([foreign.approval.id])
  expect(of(await request(`?session=${session.id}`, 'bob'))).toEqual([approval.id])
  expect(of(await request('?state=used', 'bob'))).toEqual([])
  expect((await request(`/${approval.id}`, 'bob')).body).toEqual(approval)

  // Tokens that are forged, expired, without the right, or of another tenant.
  for (const [as, status] of [
    [undefined, 401],
    ['forged', 401],
    ['old', 401],
    ['ann', 403],
  ] as const)
    for (const tried of [
      await request('', as),
      await request(`/${approval.id}`, as),
      await request('/events', as),
      await post(`/${approval.id}`, as, { decision: 'allow_once' }),
    ])
      expect(tried).toMatchObject({ status, type: 'application/problem+json', body: { status } })
  expect((await request('?tenant=acme', 'bob')).status).toBe(403)
  expect((await request(`/${approval.id}`, 'eve')).status).toBe(404)
  const crossed = await post(`/${approval.id}`, 'eve', { decision: 'deny' })
  expect(crossed).toEqual(await post('/apr_never', 'eve', { decision: 'deny' }))
  expect(crossed).toMatchObject({ status: 404, body: { code: 'unknown_approval' } })

  // Answers that cannot be taken.
  for (const [body, status] of [
    ['{', 400],
    ['[]', 400],
    [{}, 400],
    [{ decision: 'yes' }, 400],
    [{ decision: 'allow_once', by: 'bob' }, 400],
    [{ decision: 'allow_once', more: 1 }, 400],
    [{ decision: 'deny', reason: 'x'.repeat(5_000) }, 400],
    ['x'.repeat(20_000), 413],
    [{ decision: 'allow_once', digest: 'other' }, 409],
  ] as const)
    expect(await post(`/${approval.id}`, 'bob', body)).toMatchObject({
      status,
      type: 'application/problem+json',
    })
  const plain = { method: 'POST', body: '{"decision":"deny"}', headers: { 'content-type': 'text/plain' } }
  expect((await request(`/${approval.id}`, 'bob', plain)).status).toBe(415)
  expect((await request(`/${approval.id}`, 'bob', { method: 'DELETE' })).status).toBe(405)
  expect((await request('?state=open', 'bob')).status).toBe(400)
  expect(shop.runtime.approvals.find(approval.id)?.answers).toEqual([])

  // Two deciders at once: one counts, and the other is told whose.
  const { digest } = approval
  const both = await Promise.all([
    post(`/${approval.id}`, 'bob', { decision: 'allow_once', reason: 'fine', digest }),
    post(`/${approval.id}`, 'cleo', { decision: 'allow_once', digest }),
  ])
  const [won, lost] = both.toSorted((left, right) => left.status - right.status)
  expect([won?.status, lost?.status]).toEqual([200, 409])
  const by = won?.body.answers?.[0]?.by
  expect(['bob', 'cleo']).toContain(by)
  expect(lost?.body).toMatchObject({ code: 'approval_over', state: 'allowed', answers: [{ by }] })
  expect(await session.resume(step)).toMatchObject({
    results: [{ ok: true, metadata: { approval: { by, id: approval.id } } }],
  })
  expect((await post(`/${approval.id}`, 'cleo', { decision: 'deny' })).status).toBe(409)
})

test('the one who asks cannot answer where the policy says so, and a page of another origin cannot at all (PERM-3)', async () => {
  const { request, post, ask } = await start()
  const { approval } = await ask('c', { actor: 'bob' })
  expect(await post(`/${approval.id}`, 'bob', { decision: 'allow_once' })).toMatchObject({
    status: 403,
    body: { code: 'not_approver', detail: expect.stringContaining('another person') },
  })
  const fromPage = { origin: 'https://evil.example' }
  expect(await request('', 'bob', { headers: fromPage })).toMatchObject({
    status: 403,
    type: 'application/problem+json',
  })
  const { body } = await post(`/${approval.id}`, 'cleo', { decision: 'deny', reason: 'no' })
  expect(body).toMatchObject({ state: 'denied', answers: [{ by: 'cleo', reason: 'no' }] })
})

test('a stream tells what waits, comes and ends, of the own tenant alone, and ends with the right to it', async () => {
  const { origin, post, ask, place } = await start()
  const { approval } = await ask('d')
  const response = await fetch(`${origin}/approvals/events`, {
    headers: { authorization: 'Bearer hr_bob' },
  })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let heard = ''
  const hear = async (text: string): Promise<void> => {
    while (!heard.includes(text)) {
      const { done, value } = (await reader?.read()) ?? { done: true }
      if (done) throw new Error(`The stream ended without ${text}: ${heard}`)
      heard += value
    }
  }
  await hear(`event: approval.requested\ndata: {"id":"${approval.id}"`)
  const foreign = await ask('e', { actor: 'zoe', tenant: 'acme' })
  const next = await ask('f')
  await hear(`"id":"${next.approval.id}"`)
  await post(`/${next.approval.id}`, 'bob', { decision: 'allow_once' })
  await hear(`event: approval.decided\ndata: {"id":"${next.approval.id}"`)
  expect(heard).not.toContain(foreign.approval.id)
  writeFileSync(
    `${place.home}/gateway.json`,
    JSON.stringify({ tokens: [caller('cleo', { approver: true })] }),
  )
  while ((await reader?.read())?.done === false);
})

/** A gateway for tokens of an authorization server, of which those with these scopes decide. */
async function startFor(approverScopes: readonly string[] | undefined) {
  const authorization = await serveAuthorization()
  const resource = 'https://tools.example/mcp'
  const oauth = {
    issuer: authorization.issuer,
    resource,
    scopes: ['mcp'],
    tenantClaim: 'org',
    ...(approverScopes !== undefined && { approverScopes }),
  }
  const place = makePlace({}, { 'policy.json': policy, 'gateway.json': { oauth } })
  const shop = await openShop(place.store, { policy })
  const { origin } = new URL((await startServer(place)).url)
  const tokenOf = (sub: string, scope: string, org = 'local'): Promise<string> =>
    authorization.sign({ sub, scope, org, aud: resource })
  const request = async (path: string, token: string, answer?: object) => {
    const response = await fetch(`${origin}/approvals${path}`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(answer !== undefined && { method: 'POST', body: JSON.stringify(answer) }),
    })
    const challenge = response.headers.get('www-authenticate')
    return { status: response.status, challenge, body: (await response.json()) as Record<string, unknown> }
  }
  return { shop, origin, tokenOf, request }
}

test('a token of an authorization server with the scopes of an approver answers as its actor, in its tenant; another one is told what it lacks (PERM-3, AUTH-6)', async () => {
  const { shop, origin, tokenOf, request } = await startFor(['approvals', 'people'])
  const session = shop.runtime.session({ actor: 'ann' })
  const step = await session.step([refundOf('a')])
  const id = step.waiting[0]?.approval.id ?? ''
  const allow = { decision: 'allow_once' }

  for (const scope of ['mcp', 'mcp approvals', 'mcp approvals2 people']) {
    const refused = await request(`/${id}`, await tokenOf('bob', scope), allow)
    expect(refused).toMatchObject({
      status: 403,
      challenge: expect.stringContaining('error="insufficient_scope"'),
      body: {
        error: 'insufficient_scope',
        scope: 'approvals people',
        detail: expect.stringContaining('approvals people'),
      },
    })
    expect(refused.challenge).toContain('scope="mcp approvals people"')
    expect((await request('', await tokenOf('bob', scope))).status).toBe(403)
    expect((await request('/events', await tokenOf('bob', scope))).status).toBe(403)
  }
  const all = 'mcp approvals people'
  expect((await request(`/${id}`, await tokenOf('zoe', all, 'acme'), allow)).status).toBe(404)
  expect((await request(`/${id}`, await tokenOf('ann', all), allow)).status).toBe(403)
  expect(shop.runtime.approvals.find(id)).toMatchObject({ state: 'waiting', answers: [] })
  expect(await request(`/${id}`, await tokenOf('bob', all), allow)).toMatchObject({
    status: 200,
    body: { state: 'allowed', answers: [{ by: 'bob' }] },
  })
  expect((await session.resume(step)).results).toMatchObject([{ ok: true }])
  const metadata = await fetch(`${origin}/.well-known/oauth-protected-resource/mcp`)
  expect(await metadata.json()).toMatchObject({ scopes_supported: ['mcp', 'approvals', 'people'] })
})

test('no token of an authorization server answers approvals unless the gateway says which may (AUTH-6)', async () => {
  const { tokenOf, request } = await startFor(undefined)
  expect(await request('', await tokenOf('bob', 'mcp approvals'))).toMatchObject({
    status: 403,
    challenge: null,
    body: { detail: expect.stringContaining('approverScopes') },
  })
})
