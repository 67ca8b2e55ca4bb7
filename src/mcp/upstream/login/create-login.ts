import type { LoginFacts, LoginPerson } from '../../../contract/mcp/login.ts'
import type { OriginClient } from '../../../contract/mcp/tool-feed.ts'
import { isRefusal, noChallenge, readChallenge, withToken, type Challenge } from '../base/challenge.ts'
import { createTurns } from '../base/create-turns.ts'
import { createAccessToken } from './access-token.ts'
import { askForTokens, dropTokens, findIssuer } from './get-tokens.ts'
import { clientSecretsOf, type LoginContext } from './login-context.ts'
import { renewAccess } from './renew-access.ts'
import { tokensOf } from './stored-tokens.ts'
import { LoginNeeded, toLoginFailed, toLoginNeeded } from '../base/login-needed.ts'

/** One tenant's login at one server. */
export interface Login {
  /**
   * Requests to the server with the token that there is. One that is refused is renewed once, if that needs no person, and the
   * request is sent again; a `LoginNeeded` reports that it needs one. `isAnonymous` sends no token.
   */
  over(request: OriginClient['request'], about: { isAnonymous: boolean }): OriginClient['request']
  /**
   * Has the person of the runtime log in after a `LoginNeeded`; false if there is none, or they were asked for the same before. What
   * they are asked for is added to `mended`, which holds what the same piece of work was mended with.
   */
  mend(error: unknown, mended: Set<string>): Promise<boolean>
  /** All of a piece of work came about: where that was with a token that is good, the person is asked again once it is good no more. */
  worked(): void
  /** Has a person log in. Rejects with why it did not come about. */
  ask(challenge: Challenge, person: LoginPerson): Promise<LoginFacts>
  /** Forgets the tokens, and tells the authorization server where it wants to know; false if there were none. */
  forget(): Promise<boolean>
  /** Whether a login is possible at a server that answers everybody: the operator says how, or the server does. */
  isPossible(): Promise<boolean>
  /** Whether there is another token than the one that was refused last. */
  isNew(): boolean
  /** Calls back once there is. Returns what ends the waiting. */
  watch(onNew: () => void): () => void
  /** Ends what runs. */
  close(): void
}

/** A login, and the person who is asked for it when a server wants one; undefined if none is. */
export interface LoginOptions extends Omit<LoginContext, 'signal'> {
  readonly person: LoginPerson | undefined
}

/** A server cannot lead a person round and round. */
const maxAsked = 8

/** The login of a tenant. Nothing is loaded or asked before it is needed. */
export function createLogin({ person, ...options }: LoginOptions): Login {
  const { server, place, settings, host } = options
  const closing = new AbortController()
  const context: LoginContext = { ...options, signal: closing.signal }
  const access = createAccessToken(context)
  /** What renews a token is good once, and a person is led to one page at a time. */
  const renewing = createTurns()
  const asking = createTurns()
  /** What the person of the runtime was asked for, and is not asked for again. */
  const asked = new Set<string>()
  host.hide(`client ${place.tenant} ${place.server}`, clientSecretsOf(settings))

  const about = { server, tenant: place.tenant, settings }
  const needed = (challenge: Challenge): LoginNeeded => toLoginNeeded(challenge, about)
  /** Renewals that run or wait, by what was refused: requests that are refused the same wait for the same renewal. */
  const running = new Map<string, Promise<void>>()
  const renewOnce = (token: string | undefined, challenge: Challenge): Promise<void> => {
    const key = JSON.stringify([token, challenge])
    const known = running.get(key)
    if (known !== undefined) return known
    const renewal = renewing(() => renewAccess(context, access, { token, challenge })).finally(() =>
      running.delete(key),
    )
    running.set(key, renewal)
    return renewal
  }
  /** What a person is asked for. A server may name another issuer of its tokens than the issuer of those that there are. */
  const toKey = async (challenge: Challenge): Promise<string> => {
    if (challenge.isStepUp) return moreKey + challenge.scope
    const issuer = tokensOf(access.readLogin())?.issuer
    if (!asked.has(loginKey) || issuer === undefined || settings.issuer !== undefined) return loginKey
    const named = await findIssuer(context, challenge)
    return named === undefined || named === new URL(issuer).href ? loginKey : `${loginKey} at ${named}`
  }
  const ask: Login['ask'] = (challenge, by) => asking(() => askForTokens(context, challenge, by))

  return {
    over:
      (request, { isAnonymous }) =>
      async (url, init) => {
        const token = isAnonymous ? undefined : access.read()
        const response = await request(url, withToken(init, token))
        const isExpected = token !== undefined || settings.isGiven
        if (!isRefusal(response, { isExpected })) return response
        const challenge = await readChallenge(response)
        if (isAnonymous) throw needed(challenge)
        await renewOnce(token, challenge)
        const next = access.read()
        const second = await request(url, withToken(init, next))
        if (!isRefusal(second, { isExpected: true })) return second
        access.refuse(next)
        throw needed(await readChallenge(second))
      },
    async mend(error, mended) {
      if (!(error instanceof LoginNeeded) || error.cause !== undefined || person === undefined) return false
      if (settings.grant === 'client_credentials' || closing.signal.aborted) return false
      const key = await toKey(error.challenge)
      // Again, as that may take long.
      if (closing.signal.aborted) return false
      if (asked.has(key) || mended.has(key) || asked.size >= maxAsked) return false
      asked.add(key)
      mended.add(key)
      await ask(error.challenge, person).catch((cause: unknown) => {
        throw toLoginFailed(cause, error.challenge, about)
      })
      return true
    },
    worked() {
      if (!access.isGood()) return
      for (const key of asked) if (!key.startsWith(moreKey)) asked.delete(key)
    },
    ask(challenge, by) {
      asked.clear()
      return ask(challenge, by)
    },
    forget() {
      asked.clear()
      return renewing(() => dropTokens(context))
    },
    isPossible: async () => settings.isGiven || (await findIssuer(context, noChallenge)) !== undefined,
    isNew: () => access.isNew(),
    watch: (onNew) => access.watch(onNew),
    close: () => closing.abort(),
  }
}

const loginKey = 'login'
const moreKey = 'more '
