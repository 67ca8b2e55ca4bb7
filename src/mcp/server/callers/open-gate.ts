import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GatewayConfiguration } from '../../../contract/mcp/serving.ts'
import { createAdmission } from '../web/admission.ts'
import { refuse, type Refusal } from '../web/send-json.ts'
import { isCaller, type Caller, type Callers } from './caller.ts'
import { createCallers, type CallerOptions } from './create-callers.ts'

/** Who may connect. */
export type CallerRules = Pick<GatewayConfiguration, 'tokens' | 'oauth'>

export interface GateOptions
  extends CallerRules, Pick<GatewayConfiguration, 'requestsPerMinute' | 'maxRequests'> {
  /** How sessions are opened for everybody. Default: as the runtime opens them. */
  readonly session?: Caller['session']
}

/** Lets requests of known callers in, as many as each caller may have. */
export interface Gate {
  /** The caller of a request that may go on; undefined if the request was refused. */
  admit(
    request: IncomingMessage,
    response: ServerResponse,
    refuseWith?: (response: ServerResponse, refusal: Refusal) => void,
  ): Promise<Caller | undefined>
  /** Counts a request of a caller whom another room knows; returns why that caller may have no more now. */
  enter(key: string, response: ServerResponse): Refusal | undefined
  /** Whether a caller that was admitted before could still be. */
  isWelcome(caller: Caller): boolean
  /** Other callers may connect from the next request on. */
  changeCallers(rules: CallerRules): void
  readonly resourceMetadata: Callers['resourceMetadata']
  close(): void
}

export function openGate(options: GateOptions, about: Pick<CallerOptions, 'findFault' | 'log'>): Gate {
  const toCallers = ({ tokens, oauth }: CallerRules): Callers =>
    createCallers({ tokens, oauth, everybody: options.session ?? {}, ...about })
  const admission = createAdmission(options)
  let callers = toCallers(options)
  return {
    async admit(request, response, refuseWith = refuse) {
      const caller = await callers.identify(request)
      const admitted = isCaller(caller) ? (admission.enter(caller.key, response) ?? caller) : caller
      if (isCaller(admitted)) return admitted
      refuseWith(response, admitted)
      return undefined
    },
    enter: (key, response) => admission.enter(key, response),
    isWelcome: (caller) => callers.stands(caller),
    changeCallers(rules) {
      callers = toCallers(rules)
    },
    get resourceMetadata() {
      return callers.resourceMetadata
    },
    close: () => admission.close(),
  }
}
