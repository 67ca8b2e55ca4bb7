import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { selfSigned } from '../../support/self-signed.ts'
import { atWebDoors, namesOf } from '../../support/web-doors.ts'
import { redirectTo, redirectToHost, serveWeb, type Route } from '../../support/web-server.ts'

const everywhere = namesOf({
  'a.example': ['127.0.0.1'],
  'b.example': ['127.0.0.1'],
  'c.example': ['10.0.0.1'],
})
const blocked = 'SANDBOX.CAPABILITY_BLOCKED host_blocked'

/** `a.example` and `b.example` are this server, and the policy lets through what it says. */
async function serveBoth(routes: Record<string, Route>) {
  const server = await serveWeb(routes)
  const { port } = server
  const options = (network: object) => ({
    lookup: everywhere,
    network: { privateHosts: [`127.0.0.1:${port}`] },
    policy: { network },
  })
  return { server, options, a: `http://a.example:${port}` }
}

atWebDoors((openDoor) => {
  test('a redirect to another host is judged anew: rules, and what was allowed (NW-31)', async () => {
    const { server, options, a } = await serveBoth({
      '/go': redirectToHost('b.example', '/page'),
      '/page': 'The page.',
    })
    const onlyA = await openDoor(options({ hosts: ['a.example'] }))
    expect((await onlyA.fetch(`${a}/go`)).outcome).toBe('AUTH.CONSENT_REQUIRED consent_missing')
    const denying = await openDoor(options({ default: 'deny', hosts: ['a.example'] }))
    expect((await denying.fetch(`${a}/go`)).outcome).toBe('POLICY.DENY_TOOL rule_denied')
    expect(server.hits).toEqual(['/go', '/go'])
    const both = await openDoor(options({ hosts: ['a.example', 'b.example'] }))
    expect((await both.fetch(`${a}/go`)).text).toContain('The page.')
    expect(server.hits.at(-1)).toBe('/page')
  })

  test('a redirect to an address of the own network, another scheme or port stops (NW-31, NW-37, NW-39)', async () => {
    const targets = {
      'http://169.254.169.254/latest/meta-data/': blocked,
      'http://[::ffff:169.254.169.254]/': blocked,
      'http://0x7f.1/': blocked,
      'http://localhost/': blocked,
      'http://c.example/': blocked,
      '//c.example/': blocked,
      '\\\\c.example\\': blocked,
      'file:///etc/passwd': 'SANDBOX.CAPABILITY_BLOCKED scheme_blocked',
      'javascript:alert(1)': 'SANDBOX.CAPABILITY_BLOCKED scheme_blocked',
      'http://a.example:22/': 'SANDBOX.CAPABILITY_BLOCKED port_blocked',
      'http://u:p@a.example/': 'SANDBOX.CAPABILITY_BLOCKED userinfo_blocked',
      'http://': 'SCHEMA.VALIDATION_FAILED invalid_input',
    }
    for (const [target, outcome] of Object.entries(targets)) {
      const { options, a, server } = await serveBoth({ '/go': redirectTo(target) })
      const door = await openDoor(options({ default: 'allow' }))
      expect([target, (await door.fetch(`${a}/go`)).outcome]).toEqual([target, outcome])
      expect(server.hits).toEqual(['/go'])
    }
  })

  test('at most five redirects are followed, each of them judged (NW-32)', async () => {
    const hop = (next: number): Route => redirectTo(`/${next}`, 301 + (next % 2))
    const routes = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`/${index}`, hop(index + 1)]))
    const { server, options, a } = await serveBoth({
      ...routes,
      '/loop': redirectTo('/loop'),
      '/21': 'The end.',
    })
    const door = await openDoor(options({ hosts: ['a.example'] }))
    expect((await door.fetch(`${a}/0`)).outcome).toBe('TOOL.FAILED too_many_redirects')
    expect(server.hits).toHaveLength(6)
    expect((await door.fetch(`${a}/loop`)).outcome).toBe('TOOL.FAILED too_many_redirects')
    expect(server.hits).toHaveLength(12)
    expect((await door.fetch(`${a}/16`)).text).toContain('The end.')
  })

  test('redirects on one host are followed, whatever their status, and relative ones too', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const { options, a } = await serveBoth({
        '/x/go': redirectTo('../page?x=1', status),
        '/page': 'The page.',
      })
      const door = await openDoor(options({ hosts: ['a.example'] }))
      expect((await door.fetch(`${a}/x/go`)).text).toContain('The page.')
    }
  })

  test('a name is looked up once, and the connection goes where it was judged (NW-27)', async () => {
    const shown = await serveWeb({ '/': 'shown' }, { address: '127.0.0.2' })
    const secret = await serveWeb({ '/': 'secret' }, { port: shown.port })
    const asked: string[] = []
    const door = await openDoor({
      network: { privateHosts: [`127.0.0.2:${shown.port}`] },
      lookup: async (host) => {
        asked.push(host)
        return asked.length === 1 ? ['127.0.0.2'] : ['127.0.0.1']
      },
    })
    const url = `http://rebinding.example:${shown.port}/`
    expect((await door.fetch(url)).text).toContain('shown')
    expect(asked).toEqual(['rebinding.example'])
    expect((await door.fetch(url)).outcome).toBe(blocked)
    expect([shown.hits.length, secret.hits.length]).toEqual([1, 0])
  })

  test('a name that changes between a page and its redirect is judged again (NW-27, NW-31)', async () => {
    const shown = await serveWeb({ '/go': redirectTo('/secret') }, { address: '127.0.0.2' })
    const secret = await serveWeb({ '/secret': 'secret' }, { port: shown.port })
    let asked = 0
    const door = await openDoor({
      network: { privateHosts: [`127.0.0.2:${shown.port}`] },
      lookup: async () => (asked++ === 0 ? ['127.0.0.2'] : ['127.0.0.1']),
    })
    expect((await door.fetch(`http://rebinding.example:${shown.port}/go`)).outcome).toBe(blocked)
    expect([shown.hits.length, secret.hits.length]).toEqual([1, 0])
  })

  test('a proxy that the environment names is not used (NW-41)', async () => {
    const proxy = await serveWeb({})
    onTestFinished(() => void vi.unstubAllEnvs())
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'])
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`)
    const { options, a } = await serveBoth({ '/page': 'The page.' })
    const door = await openDoor(options({ default: 'allow' }))
    expect((await door.fetch(`${a}/page`)).text).toContain('The page.')
    expect((await door.fetch('http://c.example/')).outcome).toBe(blocked)
    expect(proxy.hits).toEqual([])
  })

  test('a server learns nothing of the caller, and of what stands in a URL only its request', async () => {
    const { server, options, a } = await serveBoth({
      '/go': redirectToHost('b.example', '/page#secret'),
      '/page': 'The page.',
    })
    const door = await openDoor(options({ default: 'allow' }))
    expect((await door.fetch(`${a}/go#fragment`)).ok).toBe(true)
    expect(server.hits).toEqual(['/go', '/page'])
    for (const headers of server.headers)
      expect(Object.keys(headers).sort()).toEqual([
        'accept',
        'accept-encoding',
        'connection',
        'host',
        'user-agent',
      ])
  })

  test('a certificate that nobody vouches for is refused, whatever the environment says', async () => {
    const server = createServer(selfSigned, (_, response) => response.end('secret'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const door = await openDoor({
      network: { privateHosts: [`127.0.0.1:${port}`] },
      lookup: async () => ['127.0.0.1'],
    })
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { outcome, text } = await door.fetch(`https://secure.example:${port}/`)
    expect(outcome).toBe('TOOL.FAILED connection_failed')
    expect(text).toContain('SELF_SIGNED')
  })
})
