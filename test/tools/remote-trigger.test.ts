import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { triggerTools } from 'handrail/tools'
import { resultText, type RuntimeOptions } from 'handrail'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { openRuntime, personSaying } from '../support/project.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** A server that keeps what it was sent, and a session whose operator declared a trigger there. */
async function openTrigger({ status = 200, ...options }: RuntimeOptions & { status?: number } = {}) {
  const received: { url: string; headers: IncomingHttpHeaders; body: string }[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ url: request.url ?? '', headers: request.headers, body })
      response.writeHead(status, { location: '/elsewhere' }).end('started 7')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => void server.close())
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/deploy`
  const person = personSaying('allow_once')
  const runtime = await openRuntime({
    tools: [
      triggerTools({ triggers: { deploy: { url, description: 'Deploys the shop.', secret: 'DEPLOY' } } }),
    ],
    secrets: { DEPLOY: secret },
    network: { privateHosts: [`127.0.0.1:${port}`] },
    approve: person.approve,
    ...options,
  })
  return { runtime, session: runtime.session(), received, asked: person.asked, url }
}

test('a declared trigger is started by a signed POST after a person’s yes, and recorded (BI-5, HOST-1)', async () => {
  const { runtime, session, received, asked, url } = await openTrigger()
  const result = await session.call('remote.trigger', {
    action: 'run',
    id: 'deploy',
    body: { version: '1.2' },
  })
  expect(result.data).toMatchObject({ status: 200, body: 'started 7', untrusted: true })
  expect(asked[0]).toMatchObject({ tool: 'remote.trigger', hosts: ['127.0.0.1'] })
  expect(asked[0]?.preview.body).toBe(`POST ${url}\n{\n  "version": "1.2"\n}`)
  expect(received).toMatchObject([{ url: '/deploy', body: '{"version":"1.2"}' }])
  const { headers = {}, body = '' }: { headers?: IncomingHttpHeaders; body?: string } = received[0] ?? {}
  expect(headers['idempotency-key']).toBe(result.callId)
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  const digest = createHmac('sha256', Buffer.alloc(32, 7)).update(signed).digest('base64')
  expect(headers['webhook-signature']).toBe(`v1,${digest}`)
  const recorded = [...runtime.store.records({ call: result.callId })]
    .map((record) => JSON.stringify(record))
    .join()
  expect(recorded).toContain('remote.trigger')
  expect(recorded).not.toContain(secret)
})

test('nothing but what is declared is reached, and models see which there are (BI-5)', async () => {
  const { session, received, url } = await openTrigger()
  const unknown = await session.call('remote.trigger', { action: 'run', id: 'http://127.0.0.1/' })
  expect(unknown.error).toMatchObject({ reason: 'unknown_trigger' })
  expect(unknown.error?.message).toContain('"deploy"')
  for (const action of ['create', 'update'])
    expect(
      (await session.call('RemoteTrigger', { action, id: 'x' }, { presentation: 'compatible' })).error
        ?.reason,
    ).toBe('invalid_input')
  const listed = await session.call('RemoteTrigger', { action: 'list' }, { presentation: 'compatible' })
  expect(listed.data).toEqual({
    triggers: [{ id: 'deploy', url, description: 'Deploys the shop.', signed: true }],
  })
  expect(resultText(listed)).not.toContain(secret)
  expect(received).toEqual([])
})

test('a private address is not reached unless the operator lets it be (BI-5)', async () => {
  const { session, received } = await openTrigger({ network: {} })
  const { error } = await session.call('remote.trigger', { action: 'run', id: 'deploy' })
  expect(error?.code).toBe('SANDBOX.CAPABILITY_BLOCKED')
  expect(received).toEqual([])
})

test('an answer that is no success fails the call, and no redirect is followed (BI-5)', async () => {
  for (const status of [302, 500]) {
    const { session, received } = await openTrigger({ status })
    const { error } = await session.call('remote.trigger', { action: 'run', id: 'deploy' })
    expect(error).toMatchObject({ reason: 'upstream_error' })
    expect(received).toHaveLength(1)
  }
})

test('triggers that cannot be used are refused with what is wrong (BI-5)', () => {
  for (const url of ['ftp://example.com', 'example.com', 'https://ann:pw@example.com'])
    expect(() => triggerTools({ triggers: { x: { url } } })).toThrow('/triggers/x/url')
})
