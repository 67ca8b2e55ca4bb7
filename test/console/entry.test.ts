import { expect, test } from 'vitest'
import { handrail } from '../support/command-line.ts'
import { askApi, caller, enter, serve, startConsole } from '../support/console.ts'

test('a link opens the console once; its cookie is unseen by scripts and other sites, and ends when its person leaves', async () => {
  const { link, origin, place } = await startConsole()
  const first = await enter(link)
  expect([first.entered.status, first.entered.headers.get('location')]).toEqual([303, '/'])
  const cookie = first.entered.headers.get('set-cookie')
  expect(cookie).toMatch(/^handrail-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
  expect((await first.api('/me')).body).toMatchObject({ role: 'admin', project: place.project })
  const again = await fetch(link, { redirect: 'manual' })
  expect([again.headers.get('location'), again.headers.get('set-cookie')]).toEqual(['/?link=over', null])

  const { stdout } = await handrail(place, ['console', '--port', new URL(origin).port])
  const second = await enter(stdout.trim())
  expect((await second.change('/leave', {})).status).toBe(200)
  expect((await second.api('/me')).body).toMatchObject({ status: 401, code: 'not_logged_in' })
  expect((await first.api('/me')).status).toBe(200)
})

test('who leaves is told nothing more', async () => {
  const { link, origin } = await startConsole()
  const { cookie, change } = await enter(link)
  const stream = await fetch(`${origin}/api/events`, { headers: { cookie } })
  const told = stream.text()
  await change('/leave', {})
  expect(await told).toMatch(/^id: \S+\nevent: hello\n/)
})

test('of many requests with one link, one enters', async () => {
  const { link } = await startConsole()
  const all = await Promise.all(Array.from({ length: 20 }, () => fetch(link, { redirect: 'manual' })))
  expect(all.filter(({ headers }) => headers.has('set-cookie'))).toHaveLength(1)
})

test('a visit outlives the server, and another server on the same store knows it', async () => {
  const { link, place, server } = await startConsole()
  const { api, cookie } = await enter(link)
  const { origin } = await serve(place)
  const [, secret] = cookie.split('=')
  const renamed = `handrail-${new URL(origin).port}=${secret ?? ''}`
  expect((await askApi(origin, '/me', { headers: { cookie: renamed } })).status).toBe(200)
  server.stop()
  await server.ended
  await expect(api('/me')).rejects.toThrow('fetch failed')
  expect((await askApi(origin, '/me', { headers: { cookie: renamed } })).status).toBe(200)
})

test('nothing is shown and nothing changed without a visit, and no change is made that a page of the console did not send', async () => {
  const { link, origin, ask, shop } = await startConsole()
  const { approval } = await ask('1')
  const { api, change, csrf } = await enter(link)
  const path = `/approvals/${approval.id}`
  const yes = { decision: 'allow_once', digest: approval.digest }
  for (const cookie of [undefined, 'handrail-1=x', `handrail-${new URL(origin).port}=${'A'.repeat(43)}`])
    for (const asked of ['/me', '/approvals', path, '/calls', '/runs', '/tools', '/events'])
      expect((await askApi(origin, asked, { headers: { ...(cookie && { cookie }) } })).body).toMatchObject({
        status: 401,
        code: 'not_logged_in',
      })
  const forged: readonly Record<string, string>[] = [
    { 'x-csrf-token': '' },
    { 'x-csrf-token': `${csrf}x` },
    { origin: 'http://evil.example' },
    { origin: 'http://127.0.0.1:1' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
  ]
  for (const headers of forged)
    expect((await change(path, yes, headers)).status, JSON.stringify(headers)).toBe(403)
  expect((await change(path, yes, { 'content-type': 'text/plain' })).status).toBe(415)
  expect((await api(`${path}?decision=allow_once`, { method: 'POST' })).status).toBe(403)
  expect(shop.runtime.approvals.find(approval.id)?.state).toBe('waiting')
  expect((await change(path, yes)).body.approval).toMatchObject({ state: 'allowed' })
})

test('a token of an approver sees and answers what is of its tenant; one that calls tools sees nothing of others', async () => {
  const tokens = [
    caller('ann'),
    caller('bob', { approver: true }),
    caller('eve', { approver: true, tenant: 'acme' }),
  ]
  const { origin, ask, shop } = await startConsole({
    'policy.json': { tenants: { acme: {} } },
    'gateway.json': { tokens },
  })
  const own = await ask('own')
  const foreign = await ask('foreign', { actor: 'zoe', tenant: 'acme' })
  const as = (id: string, path: string, body?: object) =>
    askApi(origin, path, {
      headers: { authorization: `Bearer hr_${id}`, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
  for (const path of ['/me', '/approvals', '/calls', '/tools']) {
    expect((await as('ann', path)).status).toBe(403)
    expect((await as('nobody', path)).status).toBe(401)
  }
  expect((await as('bob', '/me')).body).toMatchObject({ actor: 'bob', role: 'approver', tenant: 'local' })
  const ids = async (id: string) =>
    ((await as(id, '/approvals')).body.approvals as { id: string }[]).map((each) => each.id)
  expect([await ids('bob'), await ids('eve')]).toEqual([[own.approval.id], [foreign.approval.id]])
  const no = { decision: 'deny', digest: foreign.approval.digest }
  expect((await as('bob', `/approvals/${foreign.approval.id}`, no)).status).toBe(404)
  expect((await as('bob', '/tools?tenant=acme')).status).toBe(403)
  expect((await as('bob', `/calls?actor=zoe`)).body.calls).toEqual([])
  expect((await as('bob', '/tools/shop.refund/state', { state: 'paused' })).status).toBe(403)
  expect((await as('eve', `/approvals/${foreign.approval.id}`, no)).body.approval.answers).toMatchObject([
    { by: 'eve' },
  ])
  expect(shop.runtime.approvals.find(own.approval.id)?.state).toBe('waiting')
})

test('pages carry no script of others, and cannot be framed', async () => {
  const { link, origin } = await startConsole()
  await enter(link)
  for (const path of ['/', '/inbox', '/calls/x', '/console/console.js', '/api/me']) {
    const { headers } = await fetch(`${origin}${path}`, { headers: { accept: 'text/html' } })
    expect(headers.get('content-security-policy')).toMatch(
      /default-src 'none'; script-src 'self';.*frame-ancestors 'none'/,
    )
    expect([headers.get('x-frame-options'), headers.get('x-content-type-options')]).toEqual([
      'DENY',
      'nosniff',
    ])
  }
  expect((await fetch(`${origin}/console/../package.json`)).status).toBe(404)
  expect((await fetch(`${origin}/`)).headers.get('content-type')).toBe('application/json')
})
