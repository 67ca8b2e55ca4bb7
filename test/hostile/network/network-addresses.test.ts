import { webTools, type RuntimeOptions } from 'handrail'
import { expect, test } from 'vitest'
import { openRuntime, personSaying } from '../../support/project.ts'
import { atWebDoors, namesOf } from '../../support/web-doors.ts'
import { serveWeb } from '../../support/web-server.ts'

const blocked = 'SANDBOX.CAPABILITY_BLOCKED host_blocked'

/** URLs of this machine and its neighbours, as text that hides it or does not. */
const literals = {
  'NW-01 loopback': 'http://127.0.0.1/',
  'NW-04 octal': 'http://0177.0.0.1/',
  'NW-05 two parts': 'http://127.1/',
  'NW-06 zero': 'http://0/',
  hexadecimal: 'http://0x7f.0x0.0x0.0x1/',
  'one hexadecimal number': 'http://0x7f000001/',
  'one decimal number': 'http://2130706433/',
  'octal with leading zeros': 'http://00000177.0.0.1/',
  'three parts': 'http://127.0.1/',
  'a final dot': 'http://127.0.0.1./',
  'percent encoding': 'http://%31%32%37.0.0.1/',
  'circled digits': 'http://①②⑦.⓪.⓪.①/',
  'full-width digits': 'http://１２７.０.０.１/',
  'NW-13 ideographic full stops': 'http://127。0。0。1/',
  'half-width full stops': 'http://127｡0｡0｡1/',
  'an invisible soft hyphen': 'http://127.0.0.1\u00AD/',
  'another loopback address': 'http://127.255.255.254/',
  backslashes: 'http:\\\\127.0.0.1\\',
  'one slash': 'http:/127.0.0.1/',
  'no slash': 'http:127.0.0.1',
  'NW-38 a line break in the scheme': 'htt\np://127.0.0.1/',
  'tabs in the host': 'http://127.\t0.0.1/',
  'white space around': '  http://127.0.0.1/  ',
  'a name in the fragment': 'http://127.0.0.1#@public.example/',
  'NW-14 localhost with a dot': 'http://localhost./',
  localhost: 'http://localhost/',
  'localhost in capitals': 'http://LOCALHOST/',
  'localhost in circled letters': 'http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/',
  'a name below localhost': 'http://app.localhost/',
  ten: 'http://10.0.0.1/',
  'one hundred and seventy-two': 'http://172.31.255.255/',
  'one hundred and ninety-two': 'http://192.168.1.1/',
  'NW-18 the metadata of Alibaba': 'http://100.100.100.200/',
  'carrier-grade translation': 'http://100.64.0.1/',
  'the metadata of most clouds': 'http://169.254.169.254/latest/meta-data/',
  'the same, octal': 'http://0251.0376.0251.0376/',
  'the metadata of Oracle': 'http://192.0.0.192/',
  'NW-19 the wire server of Azure': 'http://168.63.129.16/',
  'the same, as a number': 'http://2822734096/',
  'the same inside IPv6': 'http://[::ffff:168.63.129.16]/',
  'NW-20 benchmarks': 'http://198.18.0.1/',
  documentation: 'http://203.0.113.1/',
  multicast: 'http://224.0.0.1/',
  broadcast: 'http://255.255.255.255/',
  'reserved for later': 'http://240.0.0.1/',
  'this network': 'http://0.1.2.3/',
  'loopback of IPv6': 'http://[::1]/',
  'the same in full': 'http://[0:0:0:0:0:0:0:1]/',
  'NW-23 nothing': 'http://[::]/',
  mapped: 'http://[::ffff:127.0.0.1]/',
  'mapped, hexadecimal': 'http://[::ffff:7f00:1]/',
  'mapped, of the own network': 'http://[::ffff:a00:1]/',
  'NW-09 translated': 'http://[::ffff:0:127.0.0.1]/',
  compatible: 'http://[::127.0.0.1]/',
  'NW-11 six to four': 'http://[2002:7f00:1::]/',
  'a translator': 'http://[64:ff9b::7f00:1]/',
  'a local translator': 'http://[64:ff9b:1::7f00:1]/',
  Teredo: 'http://[2001:0:7f00:1::]/',
  'protocols of their own': 'http://[2001:2::1]/',
  'documentation of IPv6': 'http://[2001:db8::1]/',
  'newer documentation of IPv6': 'http://[3fff::1]/',
  'link-local': 'http://[fe80::1]/',
  'site-local': 'http://[fec0::1]/',
  'unique local': 'http://[fd12:3456::1]/',
  'NW-22 the metadata of Amazon': 'http://[fd00:ec2::254]/',
  'multicast of IPv6': 'http://[ff02::1]/',
  discarded: 'http://[100::1]/',
  'segment routing': 'http://[5f00::1]/',
} as const

/** What else a URL may be, and no request comes of it. */
const refusals = {
  'NW-33 user and password': ['http://a:b@public.example/', 'SANDBOX.CAPABILITY_BLOCKED userinfo_blocked'],
  'a user alone': ['http://a@public.example/', 'SANDBOX.CAPABILITY_BLOCKED userinfo_blocked'],
  'a host that is the user of another': [
    'http://public.example@127.0.0.1/',
    'SANDBOX.CAPABILITY_BLOCKED userinfo_blocked',
  ],
  'NW-37 a file': ['file:///etc/passwd', 'SANDBOX.CAPABILITY_BLOCKED scheme_blocked'],
  ftp: ['ftp://public.example/', 'SANDBOX.CAPABILITY_BLOCKED scheme_blocked'],
  gopher: ['gopher://public.example/', 'SANDBOX.CAPABILITY_BLOCKED scheme_blocked'],
  data: ['data:text/html,x', 'SANDBOX.CAPABILITY_BLOCKED scheme_blocked'],
  javascript: ['javascript:alert(1)', 'SANDBOX.CAPABILITY_BLOCKED scheme_blocked'],
  blob: ['blob:http://public.example/x', 'SANDBOX.CAPABILITY_BLOCKED scheme_blocked'],
  'a socket': ['ws://public.example/', 'SANDBOX.CAPABILITY_BLOCKED scheme_blocked'],
  'view-source': ['view-source:http://public.example/', 'SANDBOX.CAPABILITY_BLOCKED scheme_blocked'],
  'NW-39 secure shell': ['http://public.example:22/', 'SANDBOX.CAPABILITY_BLOCKED port_blocked'],
  mail: ['http://public.example:25/', 'SANDBOX.CAPABILITY_BLOCKED port_blocked'],
  Redis: ['http://public.example:6379/', 'SANDBOX.CAPABILITY_BLOCKED port_blocked'],
  'port zero': ['http://public.example:0/', 'SANDBOX.CAPABILITY_BLOCKED port_blocked'],
  'a port beyond all': ['http://public.example:65616/', 'SCHEMA.VALIDATION_FAILED invalid_input'],
  'no URL': ['public.example/page', 'SCHEMA.VALIDATION_FAILED invalid_input'],
  'a path': ['/etc/passwd', 'SCHEMA.VALIDATION_FAILED invalid_input'],
  'no host': ['http://', 'SCHEMA.VALIDATION_FAILED invalid_input'],
  'a scope of IPv6': ['http://[fe80::1%25lo]/', 'SCHEMA.VALIDATION_FAILED invalid_input'],
} as const

const public4 = '93.184.216.34'

/** What a name may stand for without anybody seeing it. */
const named = {
  'NW-24 the own network': ['10.1.1.1'],
  loopback: ['127.0.0.1'],
  'NW-26 loopback inside IPv6': ['::ffff:127.0.0.1'],
  'loopback of IPv6': ['::1'],
  metadata: ['169.254.169.254'],
  'the wire server': ['168.63.129.16'],
  'nothing at all': ['0.0.0.0'],
  'a public address and a private one': [public4, '192.168.0.1'],
  'a private address and a public one': ['192.168.0.1', public4],
  'six to four': ['2002:7f00:1::'],
  'a text that is not an address': ['127.0.0.1 '],
  'an octal address': ['0177.0.0.1'],
  'an address of a link': ['fe80::1%lo'],
} as const

atWebDoors((openDoor) => {
  test('an address that is not of the public internet is refused however it is written (NW-04 … NW-23)', async () => {
    const door = await openDoor()
    for (const [what, url] of Object.entries(literals))
      expect([what, (await door.fetch(url)).outcome]).toEqual([what, blocked])
  })

  test('a URL with another scheme, a user, another port or no host is refused (NW-33, NW-37, NW-38, NW-39)', async () => {
    let lookups = 0
    const door = await openDoor({ lookup: async () => ((lookups += 1), []) })
    for (const [what, [url, outcome]] of Object.entries(refusals))
      expect([what, (await door.fetch(url)).outcome]).toEqual([what, outcome])
    expect(lookups).toBe(0)
  })

  test('a name is judged by every address that it stands for (NW-24, NW-26)', async () => {
    for (const [what, addresses] of Object.entries(named)) {
      const door = await openDoor({ lookup: namesOf({ 'innocent.example': addresses }) })
      const { outcome } = await door.fetch('http://innocent.example/')
      expect([what, outcome]).toEqual([what, blocked])
    }
  })

  test('nothing reaches a server of this machine, by no encoding of its address (NW-04 … NW-14)', async () => {
    const secret = await serveWeb({ '/': 'secret' })
    const door = await openDoor({
      network: { ports: [secret.port] },
      lookup: namesOf({ 'innocent.example': ['127.0.0.1'], 'innocent.example.': ['127.0.0.1'] }),
    })
    const hosts = [
      '127.0.0.1',
      '0177.0.0.1',
      '127.1',
      '0',
      '2130706433',
      '[::ffff:127.0.0.1]',
      '127。0。0。1',
      'localhost.',
    ]
    for (const host of [...hosts, 'innocent.example', 'innocent.example.', 'INNOCENT.example'])
      expect((await door.fetch(`http://${host}:${secret.port}/`)).outcome).toBe(blocked)
    expect(secret.hits).toEqual([])
  })

  test('what the operator names of the own network is reached, and nothing beside it', async () => {
    const server = await serveWeb({ '/': 'Inside.' })
    const { port } = server
    const lookup = namesOf({
      'intranet.example': ['127.0.0.1'],
      'x.corp.example': ['127.0.0.1'],
      'corp.example': ['127.0.0.1'],
      'evilintranet.example': ['127.0.0.1'],
      'meta.corp.example': ['169.254.169.254'],
    })
    const tryAll = async (privateHosts: string[], more: object = {}) => {
      const door = await openDoor({ lookup, network: { privateHosts, ...more } })
      const reached: string[] = []
      for (const host of [
        '127.0.0.1',
        'intranet.example',
        'x.corp.example',
        'corp.example',
        'evilintranet.example',
      ])
        if ((await door.fetch(`http://${host}:${port}/`)).ok) reached.push(host)
      return reached
    }
    expect(await tryAll([`127.0.0.1:${port}`])).toHaveLength(5)
    expect(await tryAll([`127.0.0.0/8:${port}`])).toHaveLength(5)
    expect(await tryAll([`127.0.0.2:${port}`])).toEqual([])
    expect(await tryAll(['127.0.0.1'])).toEqual([])
    expect(await tryAll(['127.0.0.1'], { ports: [port] })).toHaveLength(5)
    expect(await tryAll([`intranet.example:${port}`])).toEqual(['intranet.example'])
    expect(await tryAll([`*.corp.example:${port}`])).toEqual(['x.corp.example'])
    const door = await openDoor({ lookup, network: { privateHosts: ['*.corp.example'] } })
    expect((await door.fetch('http://meta.corp.example/')).outcome).toBe(blocked)
  })

  test('only hosts that the operator lists are reached, at label boundaries; an empty list is none', async () => {
    const server = await serveWeb({ '/': 'Hello.' })
    const { port } = server
    const names = [
      'example.com',
      'www.example.com',
      'evilexample.com',
      'example.com.evil.test',
      'example.com.',
    ]
    const tryAll = async (hosts: string[]) => {
      const door = await openDoor({
        lookup: async () => ['127.0.0.1'],
        network: { hosts, privateHosts: [`127.0.0.1:${port}`] },
      })
      const reached: string[] = []
      for (const name of names) {
        const { outcome } = await door.fetch(`http://${name}:${port}/`)
        if (outcome === 'ok') reached.push(name)
        else expect(outcome).toBe(blocked)
      }
      return reached
    }
    expect(await tryAll([])).toEqual([])
    expect(await tryAll(['example.com'])).toEqual(['example.com', 'example.com.'])
    expect(await tryAll(['*.example.com'])).toEqual(['www.example.com'])
    expect(await tryAll(['*'])).toEqual(names)
  })
})

test('what is of the public internet is let through, and asked about by its host (no false refusals)', async () => {
  const runtime = await openRuntime({ tools: [webTools()], approve: personSaying('deny').approve })
  const session = runtime.session()
  const seen = async (url: string) => {
    const { effect, plan, error } = await session.preflight('web.fetch', { url })
    return error === undefined ? [effect, plan?.scope] : error.message
  }
  const internet = {
    'http://example.com/': 'example.com',
    'HTTPS://EXAMPLE.com:443/a?b=c#d': 'example.com',
    'http://8.8.8.8/': '8.8.8.8',
    'http://134744072/': '8.8.8.8',
    'http://[2606:4700:4700::1111]/': '2606:4700:4700::1111',
    'https://bücher.example/': 'xn--bcher-kva.example',
    'https://xn--bcher-kva.example/': 'xn--bcher-kva.example',
    'http://localhost.example/': 'localhost.example',
    'http://notlocalhost/': 'notlocalhost',
    'http://127.0.0.1.example/': '127.0.0.1.example',
    'https://example.com/?to=http://127.0.0.1/': 'example.com',
    'https://example.com/@127.0.0.1': 'example.com',
  }
  for (const [url, host] of Object.entries(internet))
    expect([url, await seen(url)]).toEqual([url, ['ask', host]])
})

test('a configuration that would open more than it names stops the start', async () => {
  const opening = (network: RuntimeOptions['network']) =>
    openRuntime(network === undefined ? {} : { network })
  for (const host of ['*', '*:80', '10.0.0.0/99', '127.1', 'http://intranet.example', ''])
    await expect(opening({ privateHosts: ['intranet.example', host] })).rejects.toThrow(
      '/network/privateHosts/1',
    )
  await expect(opening({ hosts: ['https://example.com'] })).rejects.toThrow('/network/hosts/0')
  await expect(opening({ ports: [0] })).rejects.toThrow('/network/ports/0')
  await expect(opening({ ports: [65_536] })).rejects.toThrow('/network/ports/0')
})
