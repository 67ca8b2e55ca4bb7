import { loopbackNames } from '../../kit/match/loopback.ts'

/** How the secret of a visit travels (RFC 6265bis): unseen by scripts, never with what another site sends. */
export interface VisitCookie {
  read(request: Request): string | undefined
  /** The header that sets it, or takes it back. */
  set(request: Request, secret: string | undefined): string
}

/** Cookies do not tell ports apart, so that a name of their own does. */
function describe(request: Request): { name: string; attributes: string } {
  const { hostname, port } = new URL(request.url)
  if (loopbackNames.includes(hostname)) return { name: `handrail-${port || '80'}`, attributes: '' }
  // Beyond this machine only over TLS: a browser takes a cookie with this name in no other way.
  return { name: '__Host-handrail', attributes: '; Secure' }
}

export const visitCookie: VisitCookie = {
  read(request) {
    const { name } = describe(request)
    const pairs = (request.headers.get('cookie') ?? '').split(';').map((pair) => pair.trim())
    return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
  },
  set(request, secret) {
    const { name, attributes } = describe(request)
    const end = secret === undefined ? '; Max-Age=0' : ''
    return `${name}=${secret ?? ''}; Path=/; HttpOnly; SameSite=Strict${attributes}${end}`
  },
}
