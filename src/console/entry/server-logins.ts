import { SetupError } from '../../contract/base/errors.ts'
import type { Entry, Store } from '../../contract/store.ts'
import type { LoginFacts, LoginRequest } from '../../contract/mcp/login.ts'
import type { McpFeed } from '../../compose/sources/mcp-tools.ts'
import { serverLoginPath, type ServerLoginAbout, type ServerLogins } from '../base/server-login.ts'
import { newSecret } from './visits.ts'

interface Pending {
  readonly about: ServerLoginAbout
  readonly secret: string
  readonly comeBack: (url: string) => void
  readonly giveUp: (error: Error) => void
  readonly done: Promise<LoginFacts>
}

/** As long as the cookie of the browser holds. */
const longestMs = 10 * 60_000

/** Keeps the logins that are under way in this process: the browser has to come back to it. */
export function openServerLogins(
  servers: Pick<McpFeed, 'login'>,
  store: Pick<Store, 'append'>,
): ServerLogins {
  const pending = new Map<string, Pending>()
  const giveUpOthers = (about: ServerLoginAbout): void => {
    for (const each of pending.values())
      if (each.about.server === about.server && each.about.tenant === about.tenant)
        each.giveUp(new Error('It was begun anew.'))
  }
  return {
    async begin(about) {
      giveUpOthers(about)
      const { server, tenant, origin } = about
      const led = Promise.withResolvers<{ request: LoginRequest; back: PromiseWithResolvers<string> }>()
      const done = servers.login(server, {
        tenant,
        redirectUrl: `${origin}${serverLoginPath}`,
        authorize(request, signal) {
          const back = Promise.withResolvers<string>()
          const limit = AbortSignal.any([signal, AbortSignal.timeout(longestMs)])
          limit.addEventListener('abort', () =>
            back.reject(new Error('The browser did not come back in time.')),
          )
          led.resolve({ request, back })
          return back.promise
        },
      })
      const first = await Promise.race([led.promise, done])
      if (!('request' in first)) {
        await store.append(toLoginNote(about))
        return { url: undefined, facts: first }
      }
      const { request, back } = first
      const state = new URL(request.url).searchParams.get('state') ?? ''
      const secret = newSecret()
      pending.set(state, { about, secret, comeBack: back.resolve, giveUp: back.reject, done })
      // Who waits for it is told what came of it.
      done.then(
        () => pending.delete(state),
        () => pending.delete(state),
      )
      return { url: request.url, secret }
    },
    async finish(url, secret) {
      const state = url.searchParams.get('state') ?? ''
      const begun = pending.get(state)
      if (begun === undefined || begun.secret !== secret) throw notBegun()
      pending.delete(state)
      const { about, comeBack, giveUp, done } = begun
      if (!about.stands()) giveUp(new Error('Your visit to the console ended meanwhile.'))
      comeBack(`${about.origin}${url.pathname}${url.search}`)
      await done
      await store.append(toLoginNote(about))
      return about.server
    },
  }
}

function notBegun(): SetupError {
  return new SetupError(
    'login_failed',
    'This login was not begun in this browser, is older than ten minutes, was begun anew, or was used already.',
  )
}

function toLoginNote({ server, tenant, actor }: ServerLoginAbout): Entry[] {
  const message = `${actor} logged the tenant "${tenant}" in at the MCP server "${server}"`
  const record = { kind: 'note', event: 'server_login', session: '', at: Date.now() } as const
  return [{ record: { ...record, tenant, actor, message, data: { server } }, body: null }]
}
