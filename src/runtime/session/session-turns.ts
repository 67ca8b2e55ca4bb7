import type { Origin } from '../../contract/base/call.ts'
import type { CallRequest } from '../../contract/call-request.ts'
import type { Session, TurnResult } from '../../contract/runtime.ts'
import { checkDecision } from '../approvals/check-decision.ts'
import { prepare } from '../call/pipeline.ts'
import { refuseCall } from '../call/refuse-call.ts'
import { recallForPreflight } from '../call/steps/recall.ts'
import { subjectOf } from '../permission/keep-question.ts'
import { isHalted, type CallerOptions } from '../state/call-state.ts'
import { runTurn, toRequest } from '../turn/turn.ts'
import type { SessionCalls } from './session-calls.ts'
import { resumeStep, runStep, type StepContext } from './session-steps.ts'

/** How the calls of one model answer run. */
interface TurnOptions {
  readonly signal?: AbortSignal | undefined
  readonly origin?: Origin | undefined
  /** Whether none of them waits for a person, and how those that would come back. */
  readonly parks: CallerOptions['parks']
}

/** What a session does with the calls of a model. */
export function createSessionTurns(
  calls: SessionCalls,
  isClosed: () => boolean,
): Pick<Session, 'turn' | 'step' | 'resume' | 'refuse'> {
  const turn = (
    requests: readonly CallRequest[],
    { signal, origin, parks }: TurnOptions,
  ): Promise<TurnResult> =>
    runTurn(requests, {
      scope: calls.scope(),
      signal,
      isClosed,
      start: (request, inTurn) => calls.start(withOrigin(request, origin), 'llm', { ...inTurn, parks }),
      skip: (request, error) => calls.skip(withOrigin(request, origin), error),
    })
  const steps: StepContext = {
    scope: () => calls.scope(),
    isClosed,
    async identify(request) {
      const scope = calls.scope()
      const how = { recall: recallForPreflight, isPreflight: true }
      const hooked = await prepare<never>(calls.look(request), scope, how)
      return isHalted(hooked) ? undefined : subjectOf(hooked, scope)
    },
    run: (requests, { anew = false, ...options }) =>
      turn(requests, { ...options, parks: anew ? 'anew' : 'step' }),
  }
  return {
    turn: (requests, options) => turn(requests, { ...options, parks: false }),
    step: (requests, options) => runStep(requests, options ?? {}, steps),
    resume: (step, options) => resumeStep(step, options ?? {}, steps),
    async refuse(request, no) {
      const decision = checkDecision({ ...no, decision: 'deny' })
      return calls.skip(toRequest(request), (called, scope) => refuseCall(called, decision, scope))
    },
  }
}

/** That of a turn holds for those of its calls that name none. */
function withOrigin(request: CallRequest, origin: Origin | undefined): CallRequest {
  return origin === undefined || request.origin !== undefined ? request : { ...request, origin }
}
