import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { atEveryEntrance, openLibrary, type Entrance, type Open } from '../../support/sandbox-entrances.ts'
import { redirectToHost, serveWeb } from '../../support/web-server.ts'

/** Where a command finds the proxy, whatever its environment says. */
const proxy = 'http://127.0.0.1:3128'
const curl = `curl -sS --max-time 120 --noproxy '' -x ${proxy}`

/** `127.0.0.2` may be reached by commands; what listens at the same port of `127.0.0.3` may be, by the network alone. */
async function openOnto(open: Open, more: object = {}) {
  const server = await serveWeb(
    {
      '/page': 'The page.',
      '/host': (response, request) => response.end(`for ${request.headers.host}`),
      '/post': (response, request) => void request.pipe(response),
      '/go': redirectToHost('127.0.0.3', '/page'),
    },
    { address: '127.0.0.2' },
  )
  const { port } = server
  const other = await serveWeb({ '/page': 'Another page.' }, { address: '127.0.0.3', port })
  const host = await serveWeb({ '/page': 'The host.' }, { port })
  const entrance = await open({
    files: { 'relay.pl': relay },
    configuration: {
      network: { privateHosts: [`127.0.0.2:${port}`, `127.0.0.3:${port}`] },
      commands: { hosts: ['127.0.0.2'] },
      sandbox: { processes: 40 },
      ...more,
    },
  })
  return { ...entrance, port, url: `http://127.0.0.2:${port}`, hits: { server, other, host } }
}

/** A proxy of a command's own: it hands on what comes at port 9999 to the address that it is given. */
const relay = `
use IO::Socket::INET; use IO::Select;
my $listen = IO::Socket::INET->new(LocalAddr => '127.0.0.1:9999', Listen => 5, ReuseAddr => 1) or die;
open my $flag, '>', 'listening'; close $flag;
while (my $from = $listen->accept) {
  my $to = IO::Socket::INET->new(PeerAddr => $ARGV[0]) or die;
  my $select = IO::Select->new($from, $to);
  PAIR: while (my @ready = $select->can_read) {
    for my $one (@ready) {
      last PAIR unless sysread $one, my $bytes, 65536;
      syswrite $one == $from ? $to : $from, $bytes;
    }
  }
  close $from; close $to;
}`

const forks = `
  my $made = 0;
  while ($made < 100) { my $pid = fork(); last unless defined $pid; if (!$pid) { sleep 60; exit } $made++ }
  print "made $made\\n";`

const startRelay = `perl relay.pl 127.0.0.1:3128 > /dev/null 2>&1 & while [ ! -e listening ]; do sleep 0.02; done`

atEveryEntrance((open) => {
  const at = keepOpen(() => openOnto(open))
  const without = keepOpen(() => openOnto(open, { commands: {} }))
  /** What was asked for in one test. */
  const hitsOf = () => {
    const { server, other, host } = at().hits
    return { server: server.hits.splice(0), other: other.hits.splice(0), host: host.hits.splice(0) }
  }
  beforeEach(() => void hitsOf())

  test('a command reaches the hosts that are named for it, from its first request on (SB-36)', async () => {
    const { run, runLines, url } = at()
    const first = await run('curl', '-sS', `${url}/page`)
    expect(first).toMatchObject({ ok: true })
    expect(first.text).toContain('The page.')
    const post = `head -c 300000 /dev/zero | curl -sS --data-binary @- ${url}/post | wc -c`
    const { ends } = await runLines([`curl -sSp ${url}/page`, post])
    const printed = [expect.stringContaining('The page.'), expect.stringMatching(/^\s*300000\s*$/)]
    expect(ends.map(({ text }) => text)).toEqual(printed)
    expect(hitsOf().server).toEqual(['/page', '/page', '/post'])
  })

  test('no other host is reached, however it is written and asked for (SB-27, SB-33)', async () => {
    const { port, runLines } = at()
    const targets = [
      `http://127.0.0.3:${port}/page`,
      `http://127.0.0.1:${port}/page`,
      `http://localhost:${port}/page`,
      `http://2130706433:${port}/page`,
      `http://0177.0.0.1:${port}/page`,
      `http://[::ffff:127.0.0.1]:${port}/page`,
      `http://0.0.0.0:${port}/page`,
      'http://169.254.169.254/latest/meta-data/',
      'http://[fd00:ec2::254]/',
      'http://evil.example/',
    ]
    const asked = await runLines(targets.map((target) => `${curl} ${target}`))
    for (const { line, text } of asked.ends)
      expect([line, text]).toEqual([line, expect.stringContaining('host_blocked')])
    const tunnels = await runLines(targets.map((target) => `${curl} -p ${target}`))
    for (const { line, ok, text } of tunnels.ends)
      expect([line, ok, text]).toEqual([line, false, expect.stringContaining('response 403')])
    const [, named = ''] = /\[Not reached: (.*)\]/.exec(tunnels.rest) ?? []
    const written = (target: string) => new URL(target).host + (new URL(target).port === '' ? ':80' : '')
    const hosts = new Set(targets.map(written))
    expect(new Set(named.split(', '))).toEqual(new Set([...hosts].map((host) => `${host} (host_blocked)`)))
    expect(hitsOf()).toEqual({ server: [], other: [], host: [] })
  })

  test('a port that nobody opened, another scheme, and what is not a request of a proxy are refused', async () => {
    const targets = [`${curl} http://127.0.0.2:22/`, `${curl} ftp://127.0.0.2/`, `curl -sS ${proxy}/page`]
    const { ends } = await at().runLines(targets)
    const reasons = ['port_blocked', 'scheme_blocked', 'invalid_input']
    expect(ends.map(({ text }) => text)).toEqual(reasons.map((reason) => expect.stringContaining(reason)))
  })

  test('a redirect to another host is not followed there, and the request line counts (SB-27)', async () => {
    const { runLines, url } = at()
    const { ends } = await runLines([`curl -sSL ${url}/go`, `curl -sS -H 'Host: evil.example' ${url}/host`])
    const answers = ['host_blocked', `for ${url.slice('http://'.length)}`]
    expect(ends.map(({ text }) => text)).toEqual(answers.map((answer) => expect.stringContaining(answer)))
    expect(hitsOf().other).toEqual([])
  })

  test('a request that goes through a process of the command is judged the same (SB-33)', async () => {
    const { runLines, url, port } = at()
    const elsewhere = `http://127.0.0.3:${port}/page`
    const through = `curl -sSp --noproxy '' -x http://127.0.0.1:9999`
    const socket = '/dev/shm/handrail-proxy'
    const { ends } = await runLines([
      `rm -f listening; ${startRelay}`,
      `${through} ${url}/page`,
      `${through} ${elsewhere}`,
      `curl -sS --unix-socket ${socket} -H 'Host: x' --request-target ${elsewhere} http://x/`,
    ])
    const [, named, other, direct] = ends.map(({ text }) => text)
    expect(named).toContain('The page.')
    expect(other).toContain('response 403')
    expect(direct).toContain('host_blocked')
    expect(hitsOf().other).toEqual([])
  })

  test('there is no way out to what is not named: no route, no datagram, no name (SB-27, SB-29)', async () => {
    const { runLines, port: named } = at()
    let packets = 0
    const datagrams = createSocket('udp4', () => (packets += 1)).bind(0, '127.0.0.2')
    onTestFinished(() => void datagrams.close())
    await once(datagrams, 'listening')
    const { port } = datagrams.address()
    const attempts = [
      `curl -sS --max-time 5 --noproxy '*' http://127.0.0.3:${named}/page`,
      `bash -c 'exec 3<>/dev/tcp/127.0.0.3/${named}'`,
      'getent hosts example.com',
      `[ "$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ')" != lo ]`,
    ]
    const sending = `bash -c 'echo x > /dev/udp/127.0.0.2/${port}; echo x > /dev/udp/127.0.0.1/${port}'`
    const { ends } = await runLines([sending, ...attempts])
    for (const { line, ok } of ends.slice(1)) expect({ line, ok }).toEqual({ line, ok: false })
    expect(hitsOf()).toMatchObject({ server: [], other: [] })
    const seen = once(datagrams, 'message')
    const own = createSocket('udp4')
    own.send('own', port, '127.0.0.2', () => own.close())
    await seen
    expect(packets).toBe(1)
  })

  test('without hosts there is no proxy (SB-30)', async () => {
    await expectNoProxy(without())
  })

  test('what serves the network takes none of the processes of a command (PR-07)', async () => {
    const count = async ({ run }: Pick<Entrance, 'run'>) => {
      const { text } = await run('perl', '-e', forks)
      return Number(/made (\d+)/.exec(text)?.[1])
    }
    const made = await count(without())
    expect(made).toBeGreaterThan(20)
    // The bridge alone has about ten threads; how soon the bound is felt differs by one or two.
    expect(Math.abs((await count(at())) - made)).toBeLessThan(5)
  })

  test('a command that kills its bridge loses the network and nothing else', async () => {
    const { run, url } = at()
    const { ok, text } = await run(
      'sh',
      '-c',
      `kill -9 $(grep -la handrail-proxy /proc/[0-9]*/cmdline | cut -d/ -f3 | grep -vx -e 1 -e $$); curl -sS ${url}/page || echo alive`,
    )
    expect(ok).toBe(true)
    expect(text).toContain('alive')
  })
})

/** Variables and a socket are all that leads a command to the proxy. */
async function expectNoProxy({ runLines, url, hits }: Awaited<ReturnType<typeof openOnto>>): Promise<void> {
  const lines = ['env', `curl -sS ${url}/page`, `${curl} ${url}/page`, 'ls /dev/shm']
  const [variables, direct, throughProxy, memory] = (await runLines(lines)).ends
  expect(variables?.text).not.toMatch(/proxy/i)
  for (const reached of [direct, throughProxy])
    expect(reached).toMatchObject({ ok: false, text: expect.stringMatching(/connect/i) })
  expect(memory?.text).not.toContain('proxy')
  expect(hits.server.hits).toEqual([])
}

// The list is read before any door is opened.
test.each([undefined, { hosts: [] }])(
  'commands that are %j have no proxy either (SB-30)',
  async (commands) => {
    await expectNoProxy(await openOnto(openLibrary, { commands }))
  },
)
