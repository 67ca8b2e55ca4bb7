import type { LoginSettings } from '../../../contract/login.ts'
import { quoteArgv } from '../../../kit/quote-argv.ts'
import { oneLine } from '../one-line.ts'
import type { Challenge } from './challenge.ts'

/** A server did nothing of what it was asked, as it wants a login, or one with more rights. */
export class LoginNeeded extends Error {
  /** By this name the client of the SDK takes it for no answer of the server. */
  override readonly name = 'UnauthorizedError'
  readonly challenge: Challenge

  constructor(message: string, challenge: Challenge) {
    super(message)
    this.challenge = challenge
  }
}

/** Says what is missing, and who mends it how. `server` is as the operator named it. */
export function toLoginNeeded(
  challenge: Challenge,
  { server, tenant, settings }: { server: string; tenant: string; settings: LoginSettings },
): LoginNeeded {
  const scope = challenge.scope === undefined ? '' : ` (${oneLine(challenge.scope, 200)})`
  if (settings.grant === 'client_credentials') {
    const what = challenge.isStepUp ? `wants more rights${scope} of` : 'refuses'
    return new LoginNeeded(`It ${what} the client that "oauth" in mcp.json names. Mend that.`, challenge)
  }
  const command = ['handrail', 'mcp', 'login', server, ...(tenant === 'local' ? [] : ['--tenant', tenant])]
  const what = challenge.isStepUp ? `a login with more rights${scope}` : 'a login'
  return new LoginNeeded(`It needs ${what}: run "${quoteArgv(command)}".`, challenge)
}
