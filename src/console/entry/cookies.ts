import { loopbackNames } from '../../kit/match/loopback.ts'

/** How a secret travels (RFC 6265bis): unseen by scripts. */
export interface SecretCookie {
  read(request: Request): string | undefined
  /** The header that sets it, or takes it back. */
  set(request: Pick<Request, 'url'>, secret: string | undefined): string
}

/** Of a visit: it never goes with what another site sends. */
export const visitCookie = secretCookie('', 'SameSite=Strict')

/**
 * Of a log-in that is under way. The provider leads the browser back to us, which is a request from another site, so that `Strict` would hold it back; `Lax`
 * lets it go with that one alone: a page that is opened, and no request that a page of others sends. It opens nothing by itself.
 */
export const loginCookie = secretCookie('-login', 'SameSite=Lax; Max-Age=600')

/** Of a login at an MCP server that is under way, which leads the browser back from there in the same way. */
export const serverLoginCookie = secretCookie('-server', 'SameSite=Lax; Max-Age=600')

function secretCookie(suffix: string, rules: string): SecretCookie {
  return {
    read(request) {
      const name = `${describe(request).name}${suffix}`
      const pairs = (request.headers.get('cookie') ?? '').split(';').map((pair) => pair.trim())
      return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
    },
    set(request, secret) {
      const { name, attributes } = describe(request)
      const kept = secret === undefined ? rules.replace(/; Max-Age=\d+$/, '') : rules
      const end = secret === undefined ? '; Max-Age=0' : ''
      return `${name}${suffix}=${secret ?? ''}; Path=/; HttpOnly; ${kept}${attributes}${end}`
    },
  }
}

/** Cookies do not tell ports apart, so that a name of their own does. */
function describe(request: Pick<Request, 'url'>): { name: string; attributes: string } {
  const { hostname, port } = new URL(request.url)
  if (loopbackNames.includes(hostname)) return { name: `handrail-${port || '80'}`, attributes: '' }
  // Beyond this machine only over TLS: a browser takes a cookie with this name in no other way.
  return { name: '__Host-handrail', attributes: '; Secure' }
}
