import type {
  AuthorisationAnswer,
  AuthorisationRequest,
  DecisionPoint,
} from '../../contract/decision-point.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { digest } from '../../kit/json/digest.ts'
import { uidKey, type CedarEntity } from './cedar-entity.ts'
import { loadCedar, type Cedar } from './load-cedar.ts'
import { readPolicies, toIssue } from './read-policies.ts'
import { toCedarRequest } from './to-cedar-request.ts'
import { messageOf } from '../../kit/text/message-of.ts'

/** What Cedar decides from. */
export interface CedarOptions {
  /** Policies as Cedar writes them. An `@id("…")` names a policy in explanations and in the evidence. */
  policies: string
  /** A Cedar schema, such as `handrailSchema`: policies and every question are then held against it. Default: none. */
  schema?: string
  /** What policies speak of beside the call itself, such as the groups of an actor. Handed in with each question: keep it small. */
  entities?: readonly CedarEntity[]
}

/**
 * A decision point that asks Cedar whether an actor may invoke a tool, and may reach each file, program and host that the call would.
 * Needs the package `@cedar-policy/cedar-wasm`. Throws a SetupError with every issue of policies, schema and entities. A question
 * that Cedar cannot answer without an error is answered with forbid, also where only one policy has the error.
 *
 * @example
 * const cedar = await createCedarDecisionPoint({
 *   policies: 'permit(principal in Handrail::Tenant::"acme", action, resource);',
 *   schema: handrailSchema,
 * })
 * const runtime = await createRuntime({ decisionPoints: [cedar] })
 */
export async function createCedarDecisionPoint(options: CedarOptions): Promise<DecisionPoint> {
  const cedar = await loadCedar()
  const { policies, issues } = readPolicies(options.policies, cedar)
  const all = [...issues, ...checkSchema(options, policies, cedar), ...checkEntities(options, cedar)]
  if (all.length > 0) throw new SetupError('invalid_options', 'Cedar cannot decide by this:', all)
  const { schema, entities = [] } = options
  const id = digest(canonicalJson([cedar.getCedarVersion(), options.policies, schema ?? null, entities]))
  // The engine keeps what it parsed for as long as the process lives, so equal policies share one place.
  refuseFailure(cedar.preparsePolicySet(id, { staticPolicies: { ...policies } }), '/policies')
  if (schema !== undefined) refuseFailure(cedar.preparseSchema(id, schema), '/schema')
  const known = new Map(entities.map((entity) => [uidKey(entity.uid), entity]))
  return {
    id: 'cedar',
    digest: id,
    authorise(request) {
      try {
        const call = toCall(request, known)
        const preparsed = {
          preparsedPolicySetId: id,
          ...(schema !== undefined && { preparsedSchemaName: id }),
        }
        return read(
          cedar.statefulIsAuthorized({ ...call, ...preparsed, validateRequest: schema !== undefined }),
        )
      } catch (cause) {
        return failed(messageOf(cause))
      }
    },
  }
}

type CedarCall = Parameters<Cedar['statefulIsAuthorized']>[0]

/** What is known of an entity beforehand and what the question tells of it are one; the question is right where they differ. */
function toCall(
  request: AuthorisationRequest,
  known: ReadonlyMap<string, CedarEntity>,
): Pick<CedarCall, 'principal' | 'action' | 'resource' | 'context' | 'entities'> {
  const { entities, ...asked } = toCedarRequest(request)
  const all = new Map(known)
  for (const entity of entities) {
    const before = known.get(uidKey(entity.uid))
    all.set(uidKey(entity.uid), {
      ...before,
      uid: entity.uid,
      attrs: { ...before?.attrs, ...entity.attrs },
      parents: [...(before?.parents ?? []), ...(entity.parents ?? [])],
    })
  }
  // The engine's own types are these, with lists that may be written to.
  return { ...asked, entities: toEntities([...all.values()]) } as ReturnType<typeof toCall>
}

function toEntities(entities: readonly CedarEntity[]): CedarCall['entities'] {
  // The engine's own types are these, with lists that may be written to.
  return entities.map((entity) => ({ attrs: {}, parents: [], ...entity })) as CedarCall['entities']
}

type CedarAnswer = ReturnType<Cedar['statefulIsAuthorized']>

/** Anything but a clear yes, by a policy and without an error, is a no. */
function read(answer: CedarAnswer): AuthorisationAnswer {
  if (answer.type === 'failure') return failed(answer.errors.map((error) => error.message).join('; '))
  const { decision, diagnostics } = answer.response
  const [error] = diagnostics.errors
  if (error !== undefined) return failed(`policy "${error.policyId}": ${error.error.message}`)
  const decidedBy = diagnostics.reason.toSorted().join(', ')
  if (decision === 'allow' && decidedBy !== '')
    return { effect: 'permit', decidedBy, reason: `Cedar permits it by "${decidedBy}"` }
  if (decision !== 'deny') return failed(`its answer is ${JSON.stringify(answer)}`)
  return decidedBy === ''
    ? { effect: 'forbid', decidedBy: 'no policy', reason: 'no Cedar policy permits it' }
    : { effect: 'forbid', decidedBy, reason: `the Cedar policy "${decidedBy}" forbids it` }
}

function failed(why: string): AuthorisationAnswer {
  return {
    effect: 'forbid',
    decidedBy: 'error',
    reason: `Cedar could not decide without an error, and that forbids: ${why}`,
    data: { reason: 'decision_point_failed' },
  }
}

function checkSchema(
  { schema }: CedarOptions,
  policies: Readonly<Record<string, string>>,
  cedar: Cedar,
): Issue[] {
  if (schema === undefined) return []
  const parsed = cedar.checkParseSchema(schema)
  if (parsed.type === 'failure') return parsed.errors.map((error) => toIssue('/schema', error, schema))
  const checked = cedar.validate({ schema, policies: { staticPolicies: { ...policies } } })
  if (checked.type === 'failure') return checked.errors.map((error) => toIssue('/policies', error))
  return checked.validationErrors.map(({ policyId, error }) => {
    const issue = toIssue('/policies', error)
    return { ...issue, message: `policy "${policyId}": ${issue.message}` }
  })
}

function checkEntities({ schema, entities = [] }: CedarOptions, cedar: Cedar): Issue[] {
  if (schema !== undefined && cedar.checkParseSchema(schema).type === 'failure') return []
  const parsed = cedar.checkParseEntities({ entities: toEntities(entities), schema: schema ?? null })
  return parsed.type === 'failure' ? parsed.errors.map((error) => toIssue('/entities', error)) : []
}

function refuseFailure(parsed: ReturnType<Cedar['preparsePolicySet']>, pointer: string): void {
  if (parsed.type === 'success') return
  throw new SetupError(
    'invalid_options',
    'Cedar cannot decide by this:',
    parsed.errors.map((error) => toIssue(pointer, error)),
  )
}
