import type { LoginFacts, LoginPerson } from '../../contract/mcp/login.ts'
import type { FeedHost } from '../../contract/mcp/tool-feed.ts'
import type { UpstreamServer } from '../../contract/mcp/upstream.ts'
import { explainFault } from './base/explain-fault.ts'
import { listAll, openConnection } from './connection/open-connection.ts'
import { createServerLog } from './base/server-log.ts'
import { noChallenge, type Challenge } from './base/challenge.ts'
import type { Login } from './login/create-login.ts'
import { LoginNeeded } from './base/login-needed.ts'

/** Where a person logs in. */
export interface LoginAt {
  readonly server: UpstreamServer
  readonly host: FeedHost
  readonly tenant: string
  readonly login: Login | undefined
}

const timeoutMs = 30_000

/** Has a person log in at a server that wants that. Rejects with why it did not come about. */
export async function logInAt({ login, ...about }: LoginAt, person: LoginPerson): Promise<LoginFacts> {
  if (login === undefined) throw new Error(whyNot(about))
  const challenge = await findChallenge({ ...about, login })
  if (challenge !== undefined) return login.ask(challenge, person)
  return (await login.isPossible()) ? login.ask(noChallenge, person) : { issuer: undefined, scopes: [] }
}

function whyNot({ server: { transport } }: Pick<LoginAt, 'server'>): string {
  if (transport.kind === 'stdio')
    return 'It is a program, which has no login. Give it what it needs in "env".'
  return 'Its "headers" say who we are, or its "url" is not https. Leave the header "Authorization" out, or give a "url" with https.'
}

/** What a server asks of a client that shows no token; undefined if it asks for nothing. Rejects if it cannot be reached. */
async function findChallenge(about: LoginAt): Promise<Challenge | undefined> {
  try {
    const connection = await openConnection({
      ...about,
      isAnonymous: true,
      era: undefined,
      timeoutMs,
      signal: AbortSignal.timeout(timeoutMs),
      onListChanged: () => {},
      newLog: createServerLog,
      answer: async (method) => {
        throw new Error(`"${method}" is not answered before a login.`)
      },
    })
    try {
      await listAll(connection, { method: 'tools/list', field: 'tools', most: 1, timeoutMs })
    } finally {
      await connection.close()
    }
    return undefined
  } catch (error) {
    if (error instanceof LoginNeeded) return error.challenge
    const { message, remedy } = explainFault(error, {
      ...about,
      log: createServerLog(),
      roots: [],
      fetches: false,
    })
    throw new Error([message, ...(remedy === undefined ? [] : [remedy])].join(' '), { cause: error })
  }
}
