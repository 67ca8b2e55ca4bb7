import type { StoredLogin } from '../../../contract/mcp/login.ts'
import { secretsOf, type LoginContext } from './login-context.ts'
import { tokensOf } from './stored-tokens.ts'

/** The token that a tenant has for a server by now, which another process may have changed. */
export interface AccessToken {
  /** All that is kept of the login. */
  readLogin(): StoredLogin | undefined
  read(): string | undefined
  /** Notes that the server refused this token, or that it wants one. */
  refuse(token: string | undefined): void
  /** Whether the token that was read last is good, as far as is known. */
  isGood(): boolean
  /** Whether there is another token than the one that was refused last. */
  isNew(): boolean
  /** Calls back once there is. Returns what ends the waiting. */
  watch(onNew: () => void): () => void
}

const lookEveryMs = 1_000

/** Hides each secret that it reads. */
export function createAccessToken({ host, tokenStore, place }: LoginContext): AccessToken {
  let seen: StoredLogin | undefined
  let refused: string | undefined
  const readLogin = (): StoredLogin | undefined => {
    const stored = tokenStore.read(place)
    if (stored !== seen) host.hide(`login ${place.tenant} ${place.server}`, secretsOf(stored))
    seen = stored
    return stored
  }
  const read = (): string | undefined => tokensOf(readLogin())?.access_token
  const isNew = (): boolean => read() !== refused
  return {
    readLogin,
    read,
    refuse(token) {
      refused = token
    },
    isGood() {
      const token = tokensOf(seen)?.access_token
      return token !== undefined && token !== refused
    },
    isNew,
    watch(onNew) {
      const timer = setInterval(() => {
        if (!isNew()) return
        clearInterval(timer)
        onNew()
      }, lookEveryMs)
      timer.unref()
      return () => clearInterval(timer)
    },
  }
}
