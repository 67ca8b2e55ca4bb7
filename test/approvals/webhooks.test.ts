import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { sendWebhooks, verifyWebhook, type WebhookEvent } from 'handrail/approvals'
import { Webhook } from 'standardwebhooks'
import { expect, test, vi } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { handrail, makePlace } from '../support/command-line.ts'
import { makeStore, openShop, refundOf } from '../support/shop.ts'
import { startCommand, startServer } from '../support/start-command.ts'

const secret = `whsec_${randomBytes(32).toString('base64')}`

interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A receiver on this machine that answers as it is told. */
async function listen(answer: (received: Received, response: ServerResponse) => void) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const one = { path: request.url ?? '', headers: request.headers, body }
      received.push(one)
      answer(one, response)
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const of = (path: string): Received[] => received.filter((each) => each.path === path)
  return { received, of, port, url: (path: string) => `http://127.0.0.1:${port}${path}` }
}

/** `handrail serve` with these webhooks, and a program that asks on its store. */
async function start(webhooks: readonly object[], port: number) {
  const place = makePlace(
    {},
    {
      'config.json': { network: { privateHosts: [`127.0.0.1:${port}`] } },
      'policy.json': { tenants: { acme: {} } },
      'gateway.json': { webhooks },
    },
  )
  const shop = await openShop(place.store, { policy: { tenants: { acme: {} } } })
  return { place, shop }
}

test('receivers are told what waits and what became of it, signed so that others than ours verify it, with no secret and no input', async () => {
  const receiver = await listen((_, response) => response.writeHead(204).end())
  const { place, shop } = await start(
    [
      { url: receiver.url('/all'), secret: 'HOOK_SECRET' },
      { url: receiver.url('/acme'), secret: 'HOOK_SECRET', tenants: ['acme'], preview: true },
      { url: receiver.url('/slack'), format: 'slack', events: ['approval.requested'] },
    ],
    receiver.port,
  )
  const server = await startServer(place, ['--port', '0'], { HOOK_SECRET: secret })
  const session = shop.runtime.session({ actor: 'ann' })
  const { waiting } = await session.step([refundOf('a')])
  const id = waiting[0]?.approval.id ?? ''
  await vi.waitFor(() => expect(receiver.of('/all')).toHaveLength(1))
  await handrail(place, ['approvals', 'allow', id, '--yes', '--as', 'bob'])
  const foreign = await shop.runtime
    .session({ actor: 'zoe', tenant: 'acme' })
    .step([refundOf('b', '<!channel> & `x`')])
  await vi.waitFor(() => expect(receiver.received).toHaveLength(6))

  const [asked, decided] = receiver.of('/all')
  const verified = verifyWebhook({ secret, headers: asked?.headers ?? {}, body: asked?.body ?? '' })
  expect(verified).toMatchObject({
    ok: true,
    id: `${id}.requested`,
    event: {
      type: 'approval.requested',
      data: { id, actor: 'ann', tenant: 'local', tool: 'shop.refund', state: 'waiting', needed: 1 },
    },
  })
  for (const each of receiver.of('/all'))
    expect(new Webhook(secret).verify(each.body, each.headers as Record<string, string>)).toEqual(
      JSON.parse(each.body),
    )
  expect(JSON.parse(decided?.body ?? '')).toMatchObject({
    type: 'approval.decided',
    data: { id, state: 'allowed', answers: [{ by: 'bob', decision: 'allow_once' }] },
  })
  expect(asked?.body).not.toContain('\\"order\\"')
  const [ofAcme] = receiver.of('/acme').map(({ body }) => JSON.parse(body) as WebhookEvent)
  expect(receiver.of('/acme')).toHaveLength(1)
  expect(ofAcme?.data).toMatchObject({ id: foreign.waiting[0]?.approval.id, tenant: 'acme' })
  expect(ofAcme?.data.preview.body).toContain('<!channel>')
  const slack = receiver.of('/slack').map(({ body }) => JSON.parse(body) as { text: string })
  expect(slack).toHaveLength(2)
  expect(slack[0]).toEqual({
    text: expect.stringContaining('shop.refund for ann of local'),
    blocks: expect.any(Array),
  })
  expect(JSON.stringify(slack[0])).toContain(`handrail approvals allow ${id}`)
  expect(JSON.stringify(slack)).not.toContain('<!channel>')
  expect(receiver.of('/slack')[0]?.headers['webhook-signature']).toBeUndefined()
  expect(JSON.stringify(receiver.received) + server.output.stderr).not.toContain(secret)
})

test('what a receiver does not take is tried again, and no redirect, long answer or hanging receiver holds up a call or another receiver', async () => {
  const hanging: ServerResponse[] = []
  let failures = 2
  const receiver = await listen(({ path }, response) => {
    if (path === '/hangs') hanging.push(response)
    else if (path === '/redirects') response.writeHead(307, { location: '/inward' }).end()
    else if (path === '/gone') response.writeHead(410).end()
    else if (path === '/long') {
      response.writeHead(200)
      const more = (): void => {
        while (response.write(Buffer.alloc(65_536)));
        response.once('drain', more)
      }
      more()
    } else response.writeHead(failures-- > 0 ? 500 : 200).end()
  })
  const { place, shop } = await start(
    ['/flaky', '/hangs', '/redirects', '/gone', '/long', '/down'].map((path) => ({
      url: path === '/down' ? 'http://127.0.0.1:1/' : receiver.url(path),
      secret: 'HOOK_SECRET',
      retryMs: [1, 1],
    })),
    receiver.port,
  )
  const config = { network: { privateHosts: [`127.0.0.1:${receiver.port}`, '127.0.0.1:1'] } }
  writeFileSync(`${place.home}/config.json`, JSON.stringify(config))
  const server = await startServer(place, ['--port', '0'], { HOOK_SECRET: secret })
  const session = shop.runtime.session({ actor: 'ann' })
  const call = session.call('shop.refund', { order: '7' }, { approve: () => new Promise(() => {}) })
  await vi.waitFor(() => expect(hanging).toHaveLength(1))
  const [held] = shop.runtime.approvals.list()
  await handrail(place, ['approvals', 'allow', 'last', '--yes', '--as', 'bob'])
  expect(await call).toMatchObject({ ok: true, metadata: { approval: { by: 'bob' } } })

  await vi.waitFor(() => expect(receiver.of('/flaky')).toHaveLength(4))
  const ids = receiver.of('/flaky').map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids)).toEqual(new Set([`${held?.id}.requested`, `${held?.id}.decided`]))
  await vi.waitFor(() => expect(receiver.of('/long')).toHaveLength(2))
  await vi.waitFor(() => expect(receiver.of('/redirects')).toHaveLength(2))
  for (const line of [
    `webhook 127.0.0.1: ${held?.id}.requested was not taken: it redirects (307), which is not followed`,
    `it answered 410, so it is sent nothing more until the next start`,
    `no answer (ECONNREFUSED), after 3 tries`,
  ])
    await server.saw(line)
  expect(receiver.of('/inward')).toEqual([])
  expect(receiver.of('/gone')).toHaveLength(1)
  server.stop()
  expect((await server.ended).code).toBe(0)
})

test.each([
  ['http://169.254.169.254/latest', 'not an address of the public internet (linkLocal)'],
  ['http://localhost:9/', 'not an address of the public internet (loopback)'],
  ['http://[::ffff:10.0.0.1]/', 'not an address of the public internet (private)'],
  ['ftp://hooks.example.com/', 'neither https nor http'],
  ['https://ann:pw@hooks.example.com/', 'has a user name or a password'],
])('a webhook that leads inward is refused at the start: %s', async (url, said) => {
  const { place } = await start([{ url, format: 'slack' }], 1)
  const server = await startCommand(place, ['serve', '--port', '0'])
  const { code, stderr } = await server.ended
  expect([code, stderr]).toEqual([2, expect.stringContaining(said)])
  expect(stderr).toContain('/webhooks/0')
  expect(stderr).not.toContain('ann:pw')
})

test('a webhook without a secret that can sign is refused at the start, and the message says what to do', async () => {
  const url = 'https://hooks.example.com/x'
  const { place } = await start([{ url }, { url, secret: 'NOT_THERE' }], 1)
  const without = await (await startCommand(place, ['serve', '--port', '0'])).ended
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('/webhooks/0/secret')])
  writeFileSync(`${place.home}/gateway.json`, JSON.stringify({ webhooks: [{ url, secret: 'NOT_THERE' }] }))
  const unset = await (await startCommand(place, ['serve', '--port', '0'])).ended
  expect(unset.stderr).toContain('The environment variable "NOT_THERE" has no secret')
})

test('a receiver believes only what has the secret, is whole, and is recent', () => {
  const at = 1_700_000_000
  const body = JSON.stringify({ type: 'approval.requested', timestamp: '', data: { id: 'apr_1' } })
  const headers = {
    'webhook-id': 'm1',
    'webhook-timestamp': String(at),
    'webhook-signature': new Webhook(secret).sign('m1', new Date(at * 1_000), body),
  }
  const given = { secret, headers, body, now: at * 1_000 }
  const verified = verifyWebhook(given)
  expect(verified).toMatchObject({ ok: true, id: 'm1', event: { data: { id: 'apr_1' } } })
  expect(verifyWebhook({ ...given, headers: new Headers(headers), body: Buffer.from(body) })).toEqual(
    verified,
  )
  const other = `whsec_${randomBytes(24).toString('base64')}`
  expect(verifyWebhook({ ...given, secret: [other, secret] }).ok).toBe(true)
  for (const wrong of [
    { secret: other },
    { body: `${body} ` },
    { headers: { ...headers, 'webhook-id': 'm2' } },
    { headers: { ...headers, 'webhook-timestamp': `${at + 1}` } },
    { headers: { ...headers, 'webhook-timestamp': 'soon' } },
    { headers: { ...headers, 'webhook-signature': 'v1,' } },
    { headers: { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v1a,') } },
    { headers: {} },
    { now: (at + 301) * 1_000 },
    { now: (at - 301) * 1_000 },
  ])
    expect(verifyWebhook({ ...given, ...wrong })).toMatchObject({ ok: false, issue: expect.any(String) })
  for (const bad of ['', 'whsec_', 'secret', 'whsec_c2hvcnQ='])
    expect(() => verifyWebhook({ ...given, secret: bad })).toThrow('The secret of a webhook')
})

test('a program tells receivers as serve does, until its runtime is closed, and no call waits for that (PERM-3)', async () => {
  const receiver = await listen(({ path }, response) => {
    if (path === '/all') response.writeHead(204).end()
  })
  const policy = { tenants: { acme: {} } }
  const path = makeStore()
  const [telling, asking] = [await openShop(path, { policy }), await openShop(path, { policy })]
  const webhooks = [
    { url: receiver.url('/all'), secret },
    { url: receiver.url('/hangs'), secret, tenants: ['acme'] },
  ]
  const network = { privateHosts: [`127.0.0.1:${receiver.port}`] }
  await sendWebhooks(telling.runtime, { webhooks, network })
  webhooks.length = 0
  const session = asking.runtime.session({ actor: 'zoe', tenant: 'acme' })
  const step = await session.step([refundOf('a')])
  const id = step.waiting[0]?.approval.id ?? ''
  await vi.waitFor(() => expect(receiver.received).toHaveLength(2))
  await asking.runtime.approvals.decide(id, { decision: 'allow_once', by: 'bob' })
  expect(await session.resume(step)).toMatchObject({ results: [{ ok: true }] })
  await vi.waitFor(() => expect(receiver.of('/all')).toHaveLength(2))
  const events = receiver.of('/all').map(({ headers, body }) => verifyWebhook({ secret, headers, body }))
  expect(events).toMatchObject([
    { ok: true, id: `${id}.requested`, event: { data: { id, tenant: 'acme' } } },
    { ok: true, id: `${id}.decided`, event: { data: { id } } },
  ])

  await telling.runtime.close()
  await session.step([refundOf('b', '13')])
  const again = await openShop(path, { policy })
  await sendWebhooks(again.runtime, { webhooks: [{ url: receiver.url('/later'), secret }], network })
  await vi.waitFor(() => expect(receiver.of('/later')).toHaveLength(1))
  expect(receiver.of('/all')).toHaveLength(2)
})

test('webhooks of a program that cannot be sent to are named, with no secret; those of a closed runtime are refused', async () => {
  const { runtime } = await openShop(makeStore())
  const url = 'https://hooks.example.com/path-of-mine'
  const send = (...webhooks: object[]) =>
    sendWebhooks(runtime, { webhooks } as Parameters<typeof sendWebhooks>[1]).catch((error: unknown) => error)
  expect(await send({ url: 'ftp://x' }, { url, secret, wrong: 1 }, { url })).toMatchObject({
    code: 'invalid_options',
    issues: expect.arrayContaining([expect.objectContaining({ pointer: '/webhooks/1/wrong' })]),
  })
  expect(await send({ url: 'http://127.0.0.1:9/', secret: 'no secret' })).toMatchObject({
    issues: [{ pointer: '/webhooks/0', message: expect.stringContaining('whsec_') }],
  })
  expect(await send({ url: 'http://127.0.0.1:9/mine', secret })).toMatchObject({
    issues: [{ pointer: '/webhooks/0', message: expect.not.stringContaining('mine') }],
  })
  expect(String(await sendWebhooks(runtime, {} as never).catch((error: unknown) => error))).toContain(
    'webhooks',
  )
  const lines: string[] = []
  const network = { privateHosts: ['127.0.0.1:1'] }
  const dead = { url: 'http://127.0.0.1:1/', secret, retryMs: [1] }
  await sendWebhooks(runtime, { webhooks: [dead], network, onError: (line) => lines.push(line) })
  await runtime.session().step([refundOf('a')])
  await vi.waitFor(() => expect(lines).toEqual([expect.stringContaining('after 2 tries')]))
  await runtime.close()
  await expect(sendWebhooks(runtime, { webhooks: [] })).rejects.toMatchObject({ code: 'closed' })
})
