import type { Authorize, TokenStore, LoginPerson } from '../../../contract/mcp/login.ts'
import type { FeedHost } from '../../../contract/mcp/tool-feed.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { createLogin, type Login } from './create-login.ts'
import { toRedirectUrl } from './redirect-url.ts'

/** The logins of all tenants at one server. */
export interface Logins {
  /** Undefined without a login: a program, or a server that is told with a header who we are. */
  of(tenant: string): Login | undefined
  /** Ends what runs. */
  close(): void
}

/** Where logins are kept, and the person who is asked when a server wants one; undefined if none is. */
export interface LoginWays {
  readonly tokenStore: TokenStore
  readonly authorize: Authorize | undefined
}

/** No login yet. */
export function openLogins(
  server: UpstreamServer,
  host: FeedHost,
  { tokenStore, authorize }: LoginWays,
): Logins {
  const logins = new Map<string, Login>()
  const { transport, name } = server
  const settings = transport.kind === 'http' ? transport.login : undefined
  return {
    of(tenant) {
      if (transport.kind !== 'http' || settings === undefined || hasOwnHeader(server, tenant))
        return undefined
      let login = logins.get(tenant)
      if (login === undefined) {
        const place = { tenant, server: transport.url }
        const person: LoginPerson | undefined = authorize && { authorize, redirectUrl: toRedirectUrl(server) }
        login = createLogin({ server: name, place, settings, host, tokenStore, person })
        logins.set(tenant, login)
      }
      return login
    },
    close() {
      for (const login of logins.values()) login.close()
    },
  }
}

function hasOwnHeader({ credentials }: UpstreamServer, tenant: string): boolean {
  const own = Object.hasOwn(credentials, tenant) ? (credentials[tenant] ?? {}) : {}
  return Object.keys(own).some((header) => header.toLowerCase() === 'authorization')
}
