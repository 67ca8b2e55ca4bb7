import type { TokenStore, LoginPlace, StoredLogin } from '../../../contract/mcp/login.ts'

/** Logins that end with the process. */
export function createMemoryTokenStore(): TokenStore {
  const kept = new Map<string, StoredLogin>()
  const keyOf = ({ tenant, server }: LoginPlace): string => JSON.stringify([tenant, server])
  return {
    read: (place) => kept.get(keyOf(place)),
    write: (place, login) => void kept.set(keyOf(place), login),
    remove: (place) => void kept.delete(keyOf(place)),
  }
}
