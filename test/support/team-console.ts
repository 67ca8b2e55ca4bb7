import { createServer, type AddressInfo } from 'node:net'
import { makePlace } from './command-line.ts'
import { startConsole, visit } from './console.ts'
import { clientId, clientSecret, serveProvider, type Account } from './openid-provider.ts'

/** A rule of `gateway.json` by a group. */
export const rule = (group: string, role: string, ...tenants: string[]) => ({
  claim: 'groups',
  value: group,
  role,
  tenants,
})

export interface Team {
  readonly rules: readonly object[]
  readonly accounts: { [sub: string]: Account }
  /** More of `console.login`. */
  readonly login?: object
  /** More files of the home. */
  readonly own?: Readonly<Record<string, unknown>>
}

/** A gateway whose console persons of a real provider log in to. */
export async function startTeamConsole({ rules, accounts, login = {}, own = {} }: Team) {
  const port = await findPort()
  const url = `http://127.0.0.1:${port}`
  const provider = await serveProvider(`${url}/enter/callback`, accounts)
  const gatewayOf = (changed: object = {}) => ({
    ...(own['gateway.json'] as object),
    console: {
      url,
      login: {
        issuer: provider.issuer,
        clientId,
        clientSecret: 'CONSOLE_SECRET',
        scopes: ['profile', 'email', 'groups'],
        rules,
        ...login,
        ...changed,
      },
    },
  })
  const files = { ...own, 'gateway.json': gatewayOf() }
  const options = { port, env: { CONSOLE_SECRET: clientSecret } }
  const console = await startConsole(files, makePlace({}, files), options)
  return { ...console, provider, gatewayOf, options }
}

/** Free a moment ago: the provider has to know where it leads back to before the gateway starts. */
async function findPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** What a browser does with cookies and redirects, one request at a time. */
export function openJar() {
  const cookies = new Map<string, string>()
  const get = async (place: string): Promise<Response> => {
    const { hostname } = new URL(place)
    const own = [...cookies].filter(([name]) => name.startsWith(`${hostname} `))
    const cookie = own.map(([name, value]) => `${name.slice(hostname.length + 1)}=${value}`).join('; ')
    const response = await fetch(place, { redirect: 'manual', headers: { cookie, accept: 'text/html' } })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (value === '' || /max-age=0/i.test(set)) cookies.delete(`${hostname} ${name}`)
      else cookies.set(`${hostname} ${name}`, value)
    }
    return response
  }
  /** Follows redirects, being this person where the provider asks, up to the callback, which is not asked. */
  const logIn = async (origin: string, as: string, begin = '/enter/login'): Promise<string> => {
    let place = `${origin}${begin}`
    for (let hops = 0; hops < 12; hops++) {
      const { hostname, pathname } = new URL(place)
      if (pathname === '/enter/callback') return place
      const response = await get(
        hostname === 'localhost' && pathname.startsWith('/who/') ? `${place}?as=${as}` : place,
      )
      const to = response.headers.get('location')
      if (to === null) throw new Error(`${place} leads nowhere: ${response.status} ${await response.text()}`)
      place = new URL(to, place).href
    }
    throw new Error('It leads on and on.')
  }
  return { cookies, get, logIn }
}

/** A person who logged in. */
export async function enterAs(origin: string, as: string) {
  const jar = openJar()
  const entered = await jar.get(await jar.logIn(origin, as))
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
  if (entered.status !== 303) throw new Error(`No entry: ${await entered.text()}`)
  return { jar, entered, ...(await visit(origin, cookie)) }
}
