import { createHash } from 'node:crypto'
import { defineTool, resultText, webTools, type RuntimeOptions } from 'handrail'
import { expect, test } from 'vitest'
import { call, makePlace } from '../support/command-line.ts'
import { openRuntime, personSaying } from '../support/project.ts'
import { atWebDoors, namesOf } from '../support/web-doors.ts'
import { give, redirectTo, redirectToHost, serveWeb, type Route } from '../support/web-server.ts'

const everywhere = namesOf({ 'a.example': ['127.0.0.1'], 'b.example': ['127.0.0.1'] })

/** A runtime that may reach this server by every name, as far as its policy says. */
async function openOn(routes: Record<string, Route>, more: RuntimeOptions = {}) {
  const server = await serveWeb(routes)
  const runtime = await openRuntime({
    tools: [webTools()],
    lookup: everywhere,
    network: { privateHosts: [`127.0.0.1:${server.port}`] },
    ...more,
  })
  const session = runtime.session()
  const outcome = async (url: string, by = session) => {
    const { error } = await by.call('web.fetch', { url })
    return error === undefined ? 'ok' : `${error.code} ${error.reason}`
  }
  return {
    server,
    runtime,
    session,
    outcome,
    a: `http://a.example:${server.port}`,
    b: `http://b.example:${server.port}`,
  }
}

test('network tools ask by default, and nobody to ask is a no (PERM-2, PERM-8)', async () => {
  const { outcome, server, a } = await openOn({ '/': 'Hello.' })
  expect(await outcome(`${a}/`)).toBe('POLICY.APPROVAL_DENIED no_callback')
  expect(server.hits).toEqual([])
})

test('a yes for the session holds for one host (PERM-4, PERM-8)', async () => {
  const person = personSaying('allow_for_session')
  const { outcome, a, b } = await openOn({ '/': 'Hello.', '/x': 'More.' }, { approve: person.approve })
  for (const url of [`${a}/`, `${a}/x`, `${b}/`, `${b}/x`]) expect(await outcome(url)).toBe('ok')
  expect(
    person.asked.map(({ scope, hosts, preview }) => [scope, hosts, preview.title, preview.body]),
  ).toEqual([
    ['a.example', ['a.example'], 'Fetch from a.example', `${a}/`],
    ['b.example', ['b.example'], 'Fetch from b.example', `${b}/`],
  ])
})

test('network tools can be disabled, asked for each time, or bound to hosts (PERM-8)', async () => {
  const person = personSaying('allow_for_session')
  const tryWith = async (network: object) => {
    person.asked.length = 0
    const { outcome, a, b, server } = await openOn(
      { '/': 'Hello.' },
      { policy: { network }, approve: person.approve },
    )
    const outcomes = [await outcome(`${a}/`), await outcome(`${a}/`), await outcome(`${b}/`)]
    return { outcomes, asked: person.asked.length, hits: server.hits.length }
  }
  const denied = 'POLICY.DENY_TOOL rule_denied'
  expect(await tryWith({ default: 'deny' })).toEqual({
    outcomes: [denied, denied, denied],
    asked: 0,
    hits: 0,
  })
  expect(await tryWith({ everyTime: true })).toEqual({ outcomes: ['ok', 'ok', 'ok'], asked: 3, hits: 3 })
  expect(await tryWith({ default: 'deny', hosts: ['a.example'] })).toEqual({
    outcomes: ['ok', 'ok', denied],
    asked: 0,
    hits: 2,
  })
  expect(await tryWith({ hosts: ['*.example'] })).toEqual({ outcomes: ['ok', 'ok', 'ok'], asked: 0, hits: 3 })
  expect(await tryWith({ default: 'allow' })).toEqual({ outcomes: ['ok', 'ok', 'ok'], asked: 0, hits: 3 })
})

test('rules on hosts and standing consents for a host decide, where a redirect leads too (PERM-8, NW-31)', async () => {
  const routes = { '/': 'Hello.', '/go': redirectToHost('b.example', '/') }
  const ruled = await openOn(routes, {
    policy: {
      rules: [
        { effect: 'allow', tools: ['web.fetch'], resources: ['handrail:host:*.example'] },
        { effect: 'deny', resources: ['handrail:host:b.example'] },
      ],
    },
  })
  expect(await ruled.outcome(`${ruled.a}/`)).toBe('ok')
  expect(await ruled.outcome(`${ruled.b}/`)).toBe('POLICY.DENY_TOOL rule_denied')
  expect(await ruled.outcome(`${ruled.a}/go`)).toBe('POLICY.DENY_TOOL rule_denied')

  const consented = await openOn(routes)
  const consent = { tool: 'web.fetch', givenBy: 'ada' }
  await consented.runtime.consents.give({ ...consent, scope: 'a.example' })
  expect(await consented.outcome(`${consented.a}/go`)).toBe('AUTH.CONSENT_REQUIRED consent_missing')
  await consented.runtime.consents.give({ ...consent, scope: 'b.example' })
  expect(await consented.outcome(`${consented.a}/go`)).toBe('ok')
})

test('the URL that a refused redirect leads to stands between marks, as its server wrote it (NW-31)', async () => {
  const routes = { '/go': redirectToHost('b.example', '/obey-me') }
  const allowed = { network: { default: 'deny', hosts: ['a.example'] } } as const
  const asking = {
    rules: [{ effect: 'allow', tools: ['web.fetch'], resources: ['handrail:host:a.example'] }],
  } as const
  for (const policy of [allowed, asking]) {
    const { session, a, b } = await openOn(routes, { policy })
    const { error } = await session.call('web.fetch', { url: `${a}/go` })
    const message = error?.message ?? ''
    const [words = '', mark = ''] = message.split(/\n<(untrusted-[0-9a-f]{24}) from=/)
    expect([words.includes('"b.example"'), words.includes('obey')]).toEqual([true, false])
    expect(message).toContain(`${b}/obey-me\n</${mark}>`)
  }
})

test('a rule on the input counts for the URL that a redirect leads to (NW-31)', async () => {
  const routes = {
    '/go': redirectToHost('b.example', '/'),
    '/own': redirectToHost('a.example', '/admin'),
    '/': 'Hello.',
  }
  const { outcome, server, a } = await openOn(routes, {
    policy: {
      network: { default: 'allow' },
      rules: [
        { effect: 'ask', tools: ['web.fetch'] },
        { effect: 'allow', tools: ['web.fetch'], input: { url: 'http://a.example:*' } },
        { effect: 'deny', tools: ['web.fetch'], input: { url: '*/admin' } },
      ],
    },
    approve: personSaying('allow_once').approve,
  })
  expect(await outcome(`${a}/go`)).toBe('AUTH.CONSENT_REQUIRED consent_missing')
  expect(await outcome(`${a}/own`)).toBe('POLICY.DENY_TOOL rule_denied')
  expect(server.hits).toEqual(['/go', '/own'])
})

test('a preflight tells the host and sends nothing, not even a question for its address (CALL-1)', async () => {
  let lookups = 0
  const { session, server, a } = await openOn(
    { '/': 'Hello.' },
    { lookup: async () => ((lookups += 1), ['127.0.0.1']), policy: { network: { default: 'allow' } } },
  )
  expect(await session.preflight('web.fetch', { url: `${a}/` })).toMatchObject({
    effect: 'allow',
    plan: { operations: [{ kind: 'net', host: 'a.example', url: `${a}/` }], scope: 'a.example' },
    preview: { kind: 'host', title: 'Fetch from a.example' },
  })
  expect([lookups, server.hits.length]).toEqual([0, 0])
})

test('a tool of your own reaches what its manifest, its plan and the policy say, and nothing before (AUTH-2)', async () => {
  const server = await serveWeb({ '/': 'Hello.' })
  const at = (host: string) => `http://${host}:${server.port}/`
  const about = { maxBytes: 1_000, timeoutMs: 5_000 }
  const manifest = {
    description: 'Reaches a host.',
    permission: 'readonly',
    sideEffect: 'network',
    needs: ['network'],
    input: {
      type: 'object',
      properties: { host: { type: 'string' } },
      required: ['host'],
    },
  } as const
  const own = defineTool({
    ...manifest,
    name: 'own.unplanned',
    capabilities: { net: { hosts: ['a.example'] } },
    run: async ({ host }, { network }) => (await network.request({ ...about, url: at(host) })).status,
  })
  const early = defineTool({
    ...manifest,
    name: 'own.early',
    capabilities: { net: { hosts: ['*'] } },
    plan: async (_, { network }) => {
      await network?.request({ ...about, url: at('a.example') })
      return { operations: [] }
    },
    run: () => 'ran',
  })
  const undeclared = defineTool({
    ...manifest,
    name: 'own.undeclared',
    run: async ({ host }, { network }) => (await network.request({ ...about, url: at(host) })).status,
  })
  const open = (network: object) =>
    openRuntime({
      tools: [own, early, undeclared],
      lookup: everywhere,
      network: { privateHosts: [`127.0.0.1:${server.port}`] },
      policy: { network },
      approve: personSaying('allow_once').approve,
    })
  const wide = (await open({ default: 'allow' })).session()
  expect((await wide.call('own.unplanned', { host: 'a.example' })).data).toBe(200)
  expect((await wide.call('own.unplanned', { host: 'b.example' })).error?.reason).toBe('host_blocked')
  expect((await wide.call('own.undeclared', { host: 'a.example' })).error?.reason).toBe('host_blocked')
  expect((await wide.call('own.early', { host: 'a.example' })).error?.reason).toBe('undeclared_capability')
  expect(server.hits).toHaveLength(1)
  // A yes to the call is a yes to what it said it would reach, and it said nothing.
  const asking = (await open({})).session()
  expect((await asking.call('own.unplanned', { host: 'a.example' })).error?.code).toBe(
    'AUTH.CONSENT_REQUIRED',
  )
  expect(server.hits).toHaveLength(1)
})

test('an abort ends the request, and the server sees it (SCHED-6)', async () => {
  const started = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const { session, a } = await openOn(
    {
      '/': (response) => {
        response.on('close', closed.resolve)
        response.writeHead(200, { 'content-type': 'text/plain' })
        response.write('The beginning', () => started.resolve())
      },
    },
    { policy: { network: { default: 'allow' } } },
  )
  const called = session.call('web.fetch', { url: `${a}/` }, { id: 'it' })
  await started.promise
  expect(session.abort('it', 'enough')).toBe(true)
  expect((await called).error).toMatchObject({ code: 'TOOL.ABORTED', reason: 'aborted_by_user' })
  await closed.promise
})

test('what a tool sends to one host is not sent on to another, and what it posts goes nowhere else (NW-31)', async () => {
  const server = await serveWeb({ '/go': redirectToHost('b.example', '/'), '/': 'Hello.' })
  const send = (method: 'GET' | 'POST', name = method.toLowerCase()) =>
    defineTool({
      name: `own.${name}`,
      description: 'Sends a header of its own.',
      permission: 'readonly',
      sideEffect: 'network',
      capabilities: { net: { hosts: ['*'] } },
      needs: ['network'],
      run: async ({ network }) => {
        const url = `http://a.example:${server.port}/go`
        const body = /post/i.test(method) ? { body: 'a body' } : {}
        const headers = { 'x-own': 'mine' }
        return (await network.request({ url, method, headers, maxBytes: 100, timeoutMs: 5_000, ...body }))
          .status
      },
    })
  const runtime = await openRuntime({
    // A tool without types may write them in small letters.
    tools: [send('GET'), send('POST'), send('get' as 'GET', 'low_get'), send('post' as 'POST', 'low_post')],
    lookup: everywhere,
    network: { privateHosts: [`127.0.0.1:${server.port}`] },
    policy: { network: { default: 'allow' } },
  })
  const session = runtime.session()
  expect((await session.call('own.get')).data).toBe(200)
  expect(server.headers.map((headers) => headers['x-own'])).toEqual(['mine', undefined])
  expect((await session.call('own.post')).data).toBe(302)
  expect(server.hits).toEqual(['/go', '/', '/go'])
  expect((await session.call('own.low_get')).data).toBe(200)
  expect((await session.call('own.low_post')).data).toBe(302)
  expect(server.hits).toEqual(['/go', '/', '/go', '/go', '/', '/go'])
})

atWebDoors((openDoor) => {
  test('a page comes as Markdown, as text or as it is (BI-1)', async () => {
    const page =
      '<html><head><title>Of ships</title></head><body><h1>Ships</h1><p>They <em>float</em>. See <a href="/why">why</a>.</p><ul><li>sail</li></ul><table><tr><th>a</th></tr><tr><td>1</td></tr></table><pre><code>x  y</code></pre></body></html>'
    const server = await serveWeb({ '/': page })
    const door = await openDoor({ network: { privateHosts: [`127.0.0.1:${server.port}`] } })
    const url = `http://127.0.0.1:${server.port}/`
    const markdown = await door.fetch(url)
    for (const part of [
      'Title: Of ships',
      '# Ships',
      `They _float_. See [why](${url}why).`,
      'sail',
      '| a |\n| --- |\n| 1 |',
      '```\nx  y\n```',
    ])
      expect(markdown.text).toContain(part)
    const text = await door.fetch(url, { format: 'text' })
    expect(text.text).toContain('Ships\n\nThey float. See why.')
    expect((await door.fetch(url, { format: 'raw' })).text).toContain(page)
  })

  test('text is read in its own encoding, other things become an artifact, an error status is an error (BI-1)', async () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3])
    const posing = Buffer.from('\x89PNG\r\n\x1a\n, then more', 'latin1')
    const server = await serveWeb({
      '/json': give('{"a": 1}', { 'content-type': 'application/json' }),
      '/latin': give(Buffer.from('caf\xe9', 'latin1'), { 'content-type': 'text/plain; charset=ISO-8859-1' }),
      '/meta': give(Buffer.from('<meta charset="windows-1252"><p>caf\xe9', 'latin1'), {
        'content-type': 'text/html',
      }),
      '/utf16': give(Buffer.from('\ufeffcafé', 'utf16le'), { 'content-type': 'text/plain' }),
      '/untold': give('plain', {}),
      '/untold-page': give('<!doctype html><p>a <b>page</b>', {}),
      '/binary': give(bytes, { 'content-type': 'image/x-odd' }),
      '/untold-binary': give(bytes, {}),
      '/posing': give(posing, { 'content-type': 'text/html' }),
      '/broken': (response) => response.writeHead(500, { 'content-type': 'text/plain' }).end('It broke.'),
    })
    const door = await openDoor({ network: { privateHosts: [`127.0.0.1:${server.port}`] } })
    const fetch = (path: string, more = {}) => door.fetch(`http://127.0.0.1:${server.port}${path}`, more)
    expect((await fetch('/json')).text).toContain('{"a": 1}')
    for (const path of ['/latin', '/meta', '/utf16']) expect((await fetch(path)).text).toContain('café')
    expect((await fetch('/untold')).text).toContain('plain')
    expect((await fetch('/untold-page')).text).toContain('a **page**')
    const digest = createHash('sha256').update(bytes).digest('hex')
    for (const path of ['/binary', '/untold-binary']) expect((await fetch(path)).text).toContain(digest)
    const digestOfPosing = createHash('sha256').update(posing).digest('hex')
    expect((await fetch('/posing')).text).toContain(digestOfPosing)
    const missing = await fetch('/nowhere')
    expect([missing.outcome, missing.text.includes('There is nothing here.')]).toEqual([
      'TOOL.FAILED upstream_error',
      true,
    ])
    expect((await fetch('/broken')).outcome).toBe('TOOL.FAILED upstream_error')
  })

  test('long text keeps both of its marks, and nothing that the server says of itself stands outside of them', async () => {
    const server = await serveWeb({
      '/long': 'A line of many.\n'.repeat(10_000),
      '/odd': give('<p>x</p>', { 'content-type': 'text/html obey; charset=obey' }),
      '/type': give('x', { 'content-type': 'text/obey' }),
      '/packed': give('x', { 'content-encoding': 'obey' }),
      '/scheme': redirectTo('obey://a.example/obey'),
      '/no-url': redirectTo('http://[obey'),
    })
    const door = await openDoor({ network: { privateHosts: [`127.0.0.1:${server.port}`] } })
    const fetch = (path: string) => door.fetch(`http://127.0.0.1:${server.port}${path}`)
    const long = await fetch('/long')
    const [, name = ''] = /<(untrusted-[0-9a-f]{24}) from/.exec(long.text) ?? []
    expect([long.text.length < 64_000, long.text.includes(`</${name}>`)]).toEqual([true, true])
    expect(long.text.lastIndexOf(`</${name}>`)).toBeGreaterThan(long.text.lastIndexOf('A line of many.'))
    for (const path of ['/odd', '/type', '/packed', '/scheme', '/no-url'])
      expect((await fetch(path)).text).not.toContain('obey')
  })

  test('a server that is not there, or a name, is said so', async () => {
    const server = await serveWeb({})
    const port = server.port
    const door = await openDoor({
      network: { privateHosts: [`127.0.0.1:${port}`, '127.0.0.3'], ports: [port] },
      lookup: namesOf({}),
    })
    expect((await door.fetch('http://nowhere.example/')).outcome).toBe('TOOL.FAILED host_not_found')
    expect((await door.fetch(`http://127.0.0.3:${port}/`)).outcome).toBe('TOOL.FAILED connection_failed')
  })
})

test('the presentation that models know maps its input, and its prompt changes nothing (NAME-6)', async () => {
  const { session, a } = await openOn({ '/': 'Hello.' }, { policy: { network: { default: 'allow' } } })
  expect(session.tools({ presentation: 'compatible' }).map(({ name }) => name)).toEqual(['WebFetch'])
  const { results } = await session.turn([
    {
      id: '1',
      tool: 'WebFetch',
      input: { url: `${a}/`, prompt: 'What does it say?' },
      presentation: 'compatible',
    },
  ])
  expect(results.map((result) => [result.tool, resultText(result).includes('Hello.')])).toEqual([
    ['web.fetch', true],
  ])
})

test('the command line fetches under the configuration of its person', async () => {
  const server = await serveWeb({ '/': 'Hello.' })
  const place = makePlace({}, { 'config.json': { network: { privateHosts: [`127.0.0.1:${server.port}`] } } })
  const url = `http://127.0.0.1:${server.port}/`
  expect((await call(place, 'web.fetch', { url })).code).toBe(3)
  const { code, stdout } = await call(place, 'web.fetch --approve once', { url })
  expect([code, stdout.includes('Hello.')]).toEqual([0, true])
  const other = await call(makePlace(), 'web.fetch --approve once', { url: 'http://127.0.0.1/' })
  expect([other.code, other.stderr.includes('SANDBOX.CAPABILITY_BLOCKED (host_blocked)')]).toEqual([3, true])
})
