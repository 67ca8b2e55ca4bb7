import type { LoginSettings } from '../../../contract/mcp/login.ts'
import { quoteArgv } from '../../../kit/text/quote-argv.ts'
import { oneLine } from '../../../kit/text/one-line.ts'
import type { Challenge } from './challenge.ts'
import { messageOf } from '../../../kit/text/message-of.ts'

/** A server did nothing of what it was asked, as it wants a login, or one with more rights. */
export class LoginNeeded extends Error {
  /** By this name the client of the SDK takes it for no answer of the server. */
  override readonly name = 'UnauthorizedError'
  readonly challenge: Challenge

  constructor(message: string, challenge: Challenge, options?: { cause: unknown }) {
    super(message, options)
    this.challenge = challenge
  }
}

/** Whose login it is: the server as the operator named it. */
interface About {
  readonly server: string
  readonly tenant: string
  readonly settings: LoginSettings
}

/** Says that a login was to be had and did not come about, and why. */
export function toLoginFailed(error: unknown, challenge: Challenge, about: About): LoginNeeded {
  const why = messageOf(error)
  const remedy =
    about.settings.grant === 'client_credentials' ? '' : ` Try later, or run "${toCommand(about)}".`
  return new LoginNeeded(`Its login did not come about: ${why}${remedy}`, challenge, { cause: error })
}

/** Says what is missing, and who mends it how. */
export function toLoginNeeded(challenge: Challenge, about: About): LoginNeeded {
  const { settings } = about
  const scope = challenge.scope === undefined ? '' : ` (${oneLine(challenge.scope, 200)})`
  if (settings.grant === 'client_credentials') {
    const what = challenge.isStepUp ? `wants more rights${scope} of` : 'refuses'
    return new LoginNeeded(`It ${what} the client that "oauth" in mcp.json names. Mend that.`, challenge)
  }
  const what = challenge.isStepUp ? `a login with more rights${scope}` : 'a login'
  return new LoginNeeded(`It needs ${what}: run "${toCommand(about)}".`, challenge)
}

function toCommand({ server, tenant }: About): string {
  return quoteArgv(['handrail', 'mcp', 'login', server, ...(tenant === 'local' ? [] : ['--tenant', tenant])])
}
