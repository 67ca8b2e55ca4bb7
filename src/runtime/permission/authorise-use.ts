import type {
  AuthorisationAnswer,
  AuthorisationRequest,
  DecisionPoint,
} from '../../contract/decision-point.ts'
import type { Call } from '../../contract/base/call.ts'
import type { CallError } from '../../contract/base/errors.ts'
import type { Operation } from '../../contract/tool/plan.ts'
import type { Decision } from '../../contract/policy.ts'
import type { Ancestor } from '../../contract/base/principal.ts'
import type { Registered } from '../../contract/registry.ts'
import { callError } from '../../kit/result/call-error.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { CallScope } from '../state/scope.ts'

/** A decision point that did not permit, as an error and as the decision for the evidence. */
export interface Refusal {
  error: CallError
  decision: Decision
}

/** What a principal wants to do to what. */
export interface Use {
  action: string
  resource: string
  operation?: Operation
}

/** Who proposes to use it, and by which tool. */
export interface UsedBy {
  readonly call: Pick<Call, 'origin'>
  readonly registered: Registered
}

/**
 * Asks every decision point of the tenant about one use, in order, until one does not permit; then for each session above.
 * One that throws or returns no valid answer forbids. Waits only if one answers later.
 */
export function authoriseUse(
  about: UsedBy,
  use: Use,
  scope: CallScope,
): Refusal | undefined | Promise<Refusal | undefined> {
  const request = toRequest(about, use, scope)
  const refused = askFrom(0, request, scope)
  const { ancestors } = scope.session
  return ancestors === undefined ? refused : askForAncestors(ancestors, { refused, request }, scope)
}

/** A session that another one opened may use only what that one may. */
async function askForAncestors(
  ancestors: readonly Ancestor[],
  own: { refused: Refusal | undefined | Promise<Refusal | undefined>; request: AuthorisationRequest },
  scope: CallScope,
): Promise<Refusal | undefined> {
  let refused = await own.refused
  for (const ancestor of ancestors) {
    if (refused !== undefined) return refused
    refused = await askFrom(0, { ...own.request, ...ancestor }, scope)
  }
  return refused
}

function askFrom(
  index: number,
  request: AuthorisationRequest,
  scope: CallScope,
): Refusal | undefined | Promise<Refusal | undefined> {
  const point = scope.tenant.decisionPoints[index]
  if (point === undefined) return undefined
  try {
    const answer = point.authorise(request)
    if (answer instanceof Promise) return askLater(index, { point, answer, request }, scope)
    return read(point, answer, request) ?? askFrom(index + 1, request, scope)
  } catch (cause) {
    return failed(point, { cause, request }, scope)
  }
}

async function askLater(
  index: number,
  asked: { point: DecisionPoint; answer: Promise<unknown>; request: AuthorisationRequest },
  scope: CallScope,
): Promise<Refusal | undefined> {
  const { point, request } = asked
  try {
    const refused = read(point, await asked.answer, request)
    if (refused !== undefined) return refused
  } catch (cause) {
    return failed(point, { cause, request }, scope)
  }
  return askFrom(index + 1, request, scope)
}

function failed(
  point: DecisionPoint,
  { cause, request }: { cause: unknown; request: AuthorisationRequest },
  { tenant }: CallScope,
): Refusal {
  tenant.logError({ call: '', tool: request.definition.name, cause })
  return refuse(point, failure(point, 'it failed'), request)
}

function toRequest({ call, registered }: UsedBy, use: Use, { session }: CallScope): AuthorisationRequest {
  return {
    ...use,
    principal: session.principal,
    definition: registered.definition,
    mode: session.mode,
    origin: call.origin,
    session: session.id,
  }
}

/** Undefined if the point permits. */
function read(point: DecisionPoint, answer: unknown, request: AuthorisationRequest): Refusal | undefined {
  if (!isAnswer(answer)) return refuse(point, failure(point, 'it gave no valid answer'), request)
  return answer.effect === 'permit' ? undefined : refuse(point, answer, request)
}

function isAnswer(answer: unknown): answer is AuthorisationAnswer {
  if (!isPlainObject(answer)) return false
  const { effect, decidedBy, reason } = answer
  return (
    (effect === 'permit' || effect === 'forbid') &&
    typeof decidedBy === 'string' &&
    typeof reason === 'string'
  )
}

function failure(point: DecisionPoint, what: string): AuthorisationAnswer {
  return {
    effect: 'forbid',
    decidedBy: point.id,
    reason: `the decision point "${point.id}" was asked, ${what}, and that forbids`,
    data: { reason: 'decision_point_failed' },
  }
}

function refuse(
  point: DecisionPoint,
  answer: AuthorisationAnswer,
  { principal, action, resource }: AuthorisationRequest,
): Refusal {
  const { decidedBy, reason, data } = answer
  const finer = data?.['reason']
  const verdict = {
    layer: point.id === 'grants' ? 'grants' : 'decision-point',
    rule: decidedBy,
    effect: 'deny',
    reason,
  } as const
  return {
    decision: { ...verdict, verdicts: [verdict] },
    error: callError('AUTH.FORBIDDEN', typeof finer === 'string' ? finer : 'decision_point_denied', {
      message: `"${principal.actor}" of tenant "${principal.tenant}" may not ${action} "${resource}": ${reason}. Go on without it, or ask the operator.`,
      data: { ...data, decisionPoint: point.id, decidedBy },
    }),
  }
}
