import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { codeTools, createRuntime, type Policy, type RuntimeOptions } from 'handrail'
import { expect, onTestFinished, test, vi } from 'vitest'
import { makeFolder } from '../../support/project.ts'
import { rounds } from '../../support/rounds.ts'
import { selfSigned } from '../../support/self-signed.ts'
import { atWebDoors, namesOf, webDoors } from '../../support/web-doors.ts'
import { redirectToHost, serveWeb, type Route } from '../../support/web-server.ts'

const everywhere = namesOf({
  'example.com': ['127.0.0.1'],
  'example.com.': ['127.0.0.1'],
  'www.example.com': ['127.0.0.1'],
  'a.b.example.com': ['127.0.0.1'],
  'evilexample.com': ['127.0.0.1'],
  'example.com.evil.example': ['127.0.0.1'],
  'secure.example': ['127.0.0.1'],
  'inner.example.com': ['10.0.0.1'],
  'meta.example.com': ['169.254.169.254'],
  'both.example.com': ['127.0.0.1', '10.0.0.1'],
  'six.example.com': ['::ffff:10.0.0.1'],
})
const everything: Policy = {
  network: { default: 'allow' },
  rules: [{ effect: 'allow', tools: ['code.run_command'], argv: ['*', '**'] }],
}

/** Commands that may reach these hosts, of which `127.0.0.1` at the port of this server is the whole world. */
async function serveNames(routes: Record<string, Route>, hosts: readonly string[]) {
  const server = await serveWeb(routes)
  const options: RuntimeOptions = {
    project: makeFolder(),
    tools: [codeTools({ commands: { hosts } })],
    policy: everything,
    lookup: everywhere,
    network: { privateHosts: [`127.0.0.1:${server.port}`] },
  }
  return { server, options, at: (host: string, path = '/page') => `http://${host}:${server.port}${path}` }
}

const command = (...argv: string[]) => ['code.run_command', { argv }] as const

atWebDoors((openDoor) => {
  test('names are covered at label boundaries', async () => {
    const routes = { '/page': 'The page.' }
    const cases: readonly (readonly [hosts: string[], reached: string[], refused: string[]])[] = [
      [
        ['example.com'],
        ['example.com', 'EXAMPLE.com', 'example.com.'],
        ['www.example.com', 'evilexample.com', 'example.com.evil.example', '127.0.0.1'],
      ],
      [['*.example.com'], ['www.example.com', 'a.b.example.com'], ['example.com', 'evilexample.com']],
    ]
    for (const [hosts, reached, refused] of cases) {
      const { server, options, at } = await serveNames(routes, hosts)
      const door = await openDoor(options)
      const curl = (host: string) => door.call(...command('curl', '-sS', '--noproxy', '', at(host)))
      for (const host of reached)
        expect({ host, ...(await curl(host)) }).toMatchObject({
          ok: true,
          text: expect.stringContaining('The page.'),
        })
      const { length } = server.hits
      for (const host of refused)
        expect({ host, ...(await curl(host)) }).toMatchObject({
          text: expect.stringContaining('host_blocked'),
        })
      expect([length, server.hits.length]).toEqual([reached.length, reached.length])
    }
  })

  test('a name that stands for any address of the own network is not connected to (SB-27)', async () => {
    const { server, options, at } = await serveNames({}, ['*.example.com'])
    const door = await openDoor(options)
    for (const name of ['inner', 'meta', 'both', 'six']) {
      const { text } = await door.call(...command('curl', '-sSp', at(`${name}.example.com`)))
      expect({ name, text }).toMatchObject({
        text: expect.stringMatching(/Not reached: .*\.example\.com:\d+ \(host_blocked\)/),
      })
    }
    expect((await door.call(...command('curl', '-sSp', at('gone.example.com')))).text).toContain(
      '(host_not_found)',
    )
    expect(server.hits).toEqual([])
  })

  test('a name that changes its meaning leads nowhere else (NW-27)', async () => {
    const asked: string[] = []
    const lookup = async (host: string) => {
      asked.push(host)
      return asked.length === 1 ? ['127.0.0.1'] : ['127.0.0.2']
    }
    const { server, options, at } = await serveNames({ '/page': 'The page.' }, ['example.com'])
    const other = await serveWeb({ '/page': 'Elsewhere.' }, { address: '127.0.0.2', port: server.port })
    const door = await openDoor({ ...options, lookup })
    expect((await door.call(...command('curl', '-sSp', at('example.com')))).text).toContain('The page.')
    expect(asked).toEqual(['example.com'])
    expect((await door.call(...command('curl', '-sSp', at('example.com')))).text).toContain('host_blocked')
    await door.call(...command('curl', '-sSp', at('never.example')))
    expect(asked).toEqual(['example.com', 'example.com'])
    expect(other.hits).toEqual([])
  })

  test('a redirect to another host is judged anew', async () => {
    const { server, options, at } = await serveNames(
      { '/go': redirectToHost('evilexample.com', '/page'), '/page': 'The page.' },
      ['example.com'],
    )
    const door = await openDoor(options)
    expect((await door.call(...command('curl', '-sSL', at('example.com', '/go')))).text).toContain(
      'host_blocked',
    )
    expect(server.hits).toEqual(['/go'])
  })

  test('HTTPS goes through a tunnel, with the certificate of the server', async () => {
    const secure = createServer(selfSigned, (_, response) => response.end('Secure page.')).listen(
      0,
      '127.0.0.1',
    )
    onTestFinished(() => void secure.close())
    await vi.waitFor(() => expect(secure.listening).toBe(true))
    const { port } = secure.address() as AddressInfo
    const project = makeFolder({ 'authority.txt': selfSigned.cert })
    const door = await openDoor({
      project,
      tools: [codeTools({ commands: { hosts: ['secure.example'] } })],
      policy: everything,
      lookup: everywhere,
      network: { privateHosts: [`127.0.0.1:${port}`] },
    })
    const url = `https://secure.example:${port}/`
    const trusted = await door.call(...command('curl', '-sS', '--cacert', 'authority.txt', url))
    expect(trusted).toMatchObject({ ok: true, text: expect.stringContaining('Secure page.') })
    expect((await door.call(...command('curl', '-sS', url))).text).toMatch(/certificate/i)
    const other = await door.call(...command('curl', '-sS', url.replace('secure', 'evil')))
    expect(other.text).toContain('response 403')
  })

  test('rules, yeses and lists of the policy hold for each host on the way (PERM-8)', async () => {
    const { server, options, at } = await serveNames({ '/page': 'The page.' }, ['*.example.com'])
    const resources = ['handrail:host:www.example.com']
    const judge = async (policy: Policy) => {
      const door = await openDoor({
        ...options,
        policy: { ...policy, rules: [...(policy.rules ?? []), ...(everything.rules ?? [])] },
      })
      return (await door.call(...command('curl', '-sSp', at('www.example.com')))).text
    }
    const network = { default: 'allow' } as const
    expect(await judge({ network })).toContain('The page.')
    expect(await judge({ network, rules: [{ effect: 'deny', resources }] })).toContain('(rule_denied)')
    expect(await judge({ network, rules: [{ effect: 'ask', resources }] })).toContain('(consent_missing)')
    expect(server.hits).toEqual(['/page'])
  })
})

const [[, openLibrary]] = webDoors as readonly [(typeof webDoors)[0]]

const requests = rounds({ usual: 2, long: 20 })

test(`its first request is never too early, ${requests} of ${requests} times (SB-36)`, async () => {
  const { options, at } = await serveNames({ '/page': 'The page.' }, ['example.com'])
  const door = await openLibrary(options)
  for (let round = 0; round < requests; round++)
    expect((await door.call(...command('curl', '-sS', at('example.com', `/page?${round}`)))).text).toContain(
      'The page.',
    )
})

/** More than there may be room for. */
const endlessBytes = rounds({ usual: 1 << 26, long: 1 << 28 })

/** A body without end, and how much of it was taken. */
function endless() {
  const state = { sent: 0, closed: false }
  const route: Route = (response) => {
    const piece = Buffer.alloc(1 << 20)
    const pour = (): void => {
      while (!response.destroyed && state.sent < endlessBytes) {
        state.sent += piece.length
        if (!response.write(piece)) return void response.once('drain', pour)
      }
      response.end()
    }
    response.once('close', () => (state.closed = true))
    pour()
  }
  return { state, route }
}

/** Folders of sockets that sandboxes of this process have open. */
const openSockets = () =>
  readdirSync('/dev/shm').filter((name) => name.startsWith(`handrail-${process.pid}-`))

test('when a call is aborted in the middle of a transfer, its connections end with it', async () => {
  const { state, route } = endless()
  const { options, at } = await serveNames({ '/endless': route }, ['example.com'])
  const runtime = await createRuntime({ home: makeFolder(), ...options })
  onTestFinished(() => runtime.close())
  const ending = new AbortController()
  const answer = runtime
    .session()
    .call(...command('sh', '-c', `curl -sS ${at('example.com', '/endless')} | head -c 1 > first; sleep 60`), {
      signal: ending.signal,
    })
  const tunnel = runtime
    .session()
    .call(...command('sh', '-c', `curl -sSp -o tunnelled ${at('example.com', '/endless')}; sleep 60`), {
      signal: ending.signal,
    })
  const { project = '' } = options
  await vi.waitFor(() =>
    expect(['first', 'tunnelled'].map((name) => existsSync(join(project, name)))).toEqual([true, true]),
  )
  // From here on nobody else finds the way in.
  expect(openSockets()).toEqual([])
  ending.abort()
  for (const result of [await answer, await tunnel])
    expect(result).toMatchObject({ outcome: 'aborted', data: { ended: 'abort', survivors: [] } })
  await vi.waitFor(() => expect(state.closed).toBe(true))
  expect(openSockets()).toEqual([])
})

test.each([
  ['a request', ''],
  ['a tunnel', '-p'],
])('%s that nobody reads fills no memory', async (_name, option) => {
  const { state, route } = endless()
  const { options, at } = await serveNames({ '/endless': route }, ['example.com'])
  const door = await openLibrary(options)
  const { project = '' } = options
  const url = at('example.com', '/endless')
  const line = `curl -sS ${option} ${url} | { head -c 1 > begun; while [ ! -e go ]; do sleep 0.05; done; wc -c; }`
  const answer = door.call(...command('sh', '-c', line))
  await vi.waitFor(() => expect(existsSync(join(project, 'begun'))).toBe(true))
  // As long as more is taken, there is room somewhere.
  let before = -1
  await vi.waitFor(
    () => {
      const still = before === state.sent
      before = state.sent
      expect(still).toBe(true)
    },
    { interval: 500 },
  )
  expect(state.sent).toBeLessThan(32 << 20)
  writeFileSync(join(project, 'go'), '')
  const { text } = await answer
  expect(Number(/^(\d+)$/m.exec(text)?.[1])).toBeGreaterThan(endlessBytes - (1 << 17))
})
