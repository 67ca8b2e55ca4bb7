import type { Origin } from '../../contract/base/call.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { CallRequest } from '../../contract/call-request.ts'
import type { Session, TurnResult } from '../../contract/runtime.ts'
import { checkDecision } from '../approvals/check-decision.ts'
import { prepare } from '../call/pipeline.ts'
import { refuseCall } from '../call/refuse-call.ts'
import { recallForPreflight } from '../call/steps/recall.ts'
import { subjectOf } from '../permission/keep-question.ts'
import { isHalted, type CallerOptions } from '../state/call-state.ts'
import { followCall } from '../keep/long/follow-call.ts'
import { runTurn, toRequest } from '../turn/turn.ts'
import type { SessionCalls } from './session-calls.ts'
import { findBegun, type BegunResults } from './find-begun.ts'
import { resumeStep, runStep, type StepContext } from './session-steps.ts'

/** How the calls of one model answer run. */
interface TurnOptions {
  readonly signal?: AbortSignal | undefined
  readonly origin?: Origin | undefined
  /** Whether none of them waits for a person, and how those that would come back. */
  readonly parks: CallerOptions['parks']
  /** Whether calls that were begun before are not run again. */
  readonly once?: boolean | undefined
}

const noneBegun: BegunResults = new Map()

/** What a session does with the calls of a model. */
export function createSessionTurns(
  calls: SessionCalls,
  isClosed: () => boolean,
): Pick<Session, 'turn' | 'step' | 'resume' | 'refuse'> {
  const turn = (
    requests: readonly CallRequest[],
    { signal, origin, parks, once }: TurnOptions,
  ): Promise<TurnResult> => {
    const scope = calls.scope()
    const begun = once === true ? findBegun(requests, scope) : noneBegun
    const recall = ({ id, follow }: CallRequest): Promise<ToolResult> | undefined => {
      const result = begun.get(id)
      if (result === undefined || follow !== true) return result && Promise.resolve(result)
      return followCall(result, scope.session, { signal, onProgress: undefined })
    }
    return runTurn(requests, {
      scope,
      signal,
      isClosed,
      start: (request, inTurn) =>
        recall(request) ?? calls.start(withOrigin(request, origin), 'llm', { ...inTurn, parks }),
      skip: async (request, error) => begun.get(request.id) ?? calls.skip(withOrigin(request, origin), error),
    })
  }
  const steps: StepContext = {
    scope: () => calls.scope(),
    isClosed,
    async identify(request) {
      const scope = calls.scope()
      const how = { recall: recallForPreflight, isPreflight: true }
      const hooked = await prepare<never>(calls.look(request), scope, how)
      return isHalted(hooked) ? undefined : subjectOf(hooked, scope)
    },
    run: (requests, { wait = false, anew = false, ...options }) =>
      turn(requests, { ...options, parks: !wait && (anew ? 'anew' : 'step') }),
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
