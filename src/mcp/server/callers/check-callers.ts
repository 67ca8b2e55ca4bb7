import { SetupError } from '../../../contract/base/errors.ts'
import type { Runtime } from '../../../contract/runtime.ts'
import type { GatewayConfiguration, TokenCaller } from '../../../contract/mcp/serving.ts'
import { isLoopback } from '../web/listen.ts'
import type { Caller } from './caller.ts'
import type { CallerOptions } from './create-callers.ts'
import { toSessionOptions } from './to-session-options.ts'

/** Opening a session tells whether it can be; what was told holds for the same tenant until it is another policy. */
export function createFaultFinder(runtime: Runtime): (session: Caller['session']) => string | undefined {
  const fine = new Set<string>()
  return (session) => {
    const key = JSON.stringify([runtime.policyVersion, session])
    if (fine.has(key)) return undefined
    try {
      void runtime.session(session).close()
    } catch (error) {
      if (!(error instanceof SetupError)) throw error
      return error.message
    }
    if (fine.size >= maxRemembered) fine.clear()
    fine.add(key)
    return undefined
  }
}

const maxRemembered = 10_000

/** A caller with a token that no session can be opened for would find out at the first call. */
export function checkTokens(tokens: readonly TokenCaller[], findFault: CallerOptions['findFault']): void {
  const faults = tokens.flatMap((token, index) => {
    const message = findFault(toSessionOptions(token))
    return message === undefined ? [] : [{ pointer: `/tokens/${index}`, code: 'no_session', message }]
  })
  if (faults.length > 0)
    throw new SetupError('invalid_options', 'Nothing is served, since not every token could be:', faults)
}

/** A server that others can reach has to know who they are. */
export function checkAddress({ host = '127.0.0.1', tokens, oauth }: GatewayConfiguration): void {
  if (isLoopback(host) || tokens !== undefined || oauth !== undefined) return
  throw new SetupError(
    'invalid_options',
    `The host "${host}" is not a loopback address, and nothing says who may connect. Use 127.0.0.1, or name callers with "tokens" or "oauth".`,
  )
}
