import { setImmediate as turn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { LoginSettings } from '../../../contract/mcp/login.ts'
import { noChallenge } from '../base/challenge.ts'
import { createLogin } from './create-login.ts'
import { LoginNeeded } from '../base/login-needed.ts'
import { createMemoryTokenStore } from './memory-token-store.ts'

const place = { tenant: 'local', server: 'https://mcp.example/mcp' }

const settings: LoginSettings = {
  isGiven: false,
  grant: 'authorization_code',
  clientId: undefined,
  clientSecret: undefined,
  privateKey: undefined,
  signingAlgorithm: 'ES256',
  clientMetadataUrl: undefined,
  scopes: undefined,
  issuer: undefined,
  redirectPort: undefined,
}

test('calls that are refused the same token wait for one renewal, and fail with it', async () => {
  const tokenStore = createMemoryTokenStore()
  tokenStore.write(place, {
    clients: {},
    tokens: { access_token: 'old', token_type: 'Bearer', refresh_token: 'r', issuer: 'https://as.example' },
  })
  const asked: string[] = []
  const { promise: outage, reject: fail } = Promise.withResolvers<Response>()
  const door = {
    request: (url: string | URL) => {
      asked.push(String(url))
      return outage
    },
    close: async () => {},
  }
  const host = { secret: () => undefined, web: { reach: () => door }, hide: () => {}, report: () => {} }
  const login = createLogin({ server: 'tracker', place, settings, host, tokenStore, person: undefined })
  let refused = 0
  const refuse = async (): Promise<Response> =>
    new Response(new ReadableStream({ cancel: () => void refused++ }), { status: 401 })
  const calls = Array.from({ length: 6 }, () =>
    login
      .over(refuse, { isAnonymous: false })(place.server)
      .then(() => 'done', String),
  )
  while (refused < calls.length || asked.length === 0) await turn()
  fail(new Error('Nobody is there.'))
  const said = await Promise.all(calls)
  for (const each of said) expect(each).toContain('Nobody is there.')
  expect(asked).toHaveLength(1)
})

test('nobody is asked by a login that is closed while it is found out what for', async () => {
  const person = { authorize: async () => '', redirectUrl: 'http://127.0.0.1:1/' }
  const request = vi.fn<() => Promise<Response>>(async () => new Response(null, { status: 404 }))
  const door = { request, close: async () => {} }
  const host = { secret: () => undefined, web: { reach: () => door }, hide: () => {}, report: () => {} }
  const tokenStore = createMemoryTokenStore()
  const login = createLogin({ server: 'tracker', place, settings, host, tokenStore, person })
  const mended = login.mend(new LoginNeeded('It is needed.', noChallenge), new Set())
  login.close()
  expect(await mended).toBe(false)
  expect(request).not.toHaveBeenCalled()
})
