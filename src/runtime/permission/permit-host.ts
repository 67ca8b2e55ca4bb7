import { ToolFailure, type CallError } from '../../contract/base/errors.ts'
import type { Json, JsonObject } from '../../contract/base/json.ts'
import type { Operation } from '../../contract/base/plan.ts'
import type { Decision } from '../../contract/policy.ts'
import type { Registered } from '../../contract/registry.ts'
import type { PermitHost } from '../../contract/base/sandbox.ts'
import { callError } from '../../kit/result/call-error.ts'
import { markUntrusted } from '../../kit/text/mark-untrusted.ts'
import { matchHost } from '../../kit/match/match-host.ts'
import { operationAction, operationUrn } from '../../kit/match/urn.ts'
import { authoriseUse } from './authorise-use.ts'
import { followedSkills } from '../skills/followed-skills.ts'
import type { CallScope } from '../state/scope.ts'
import type { Admitted } from '../state/call-state.ts'

type Reach = Extract<Operation, { kind: 'net' }>

/**
 * Lets a running call reach what it planned. Anything else, such as where a server redirects it, is judged as a call with that URL
 * would be: profile, rules, what the person allowed, decision points. No person is asked on the way: another host that needs a yes
 * is refused.
 */
export function createHostPermit(admitted: Admitted, scope: CallScope): PermitHost {
  return async ({ host, url }) => {
    const planned = admitted.plan.operations.filter((operation) => operation.kind === 'net')
    if (planned.some((operation) => operation.host === host && operation.url === url)) return
    const reach: Reach = { kind: 'net', host, url }
    const refused = judge(reach, planned, { admitted, scope }) ?? (await authorise(reach, admitted, scope))
    if (refused !== undefined) throw new ToolFailure(refused)
  }
}

function judge(
  reach: Reach,
  planned: readonly Reach[],
  { admitted, scope }: { admitted: Admitted; scope: CallScope },
): CallError | undefined {
  const { tenant, session } = scope
  const { definition } = admitted.registered
  const blocked = tenant.policy.guard(admitted.profile, [reach])
  if (blocked !== undefined) return blocked
  const decision = tenant.policy.decide({
    definition,
    principal: session.principal,
    mode: session.mode,
    ancestors: session.ancestors,
    skills: followedSkills(scope),
    operations: [reach],
    input: withUrl(admitted.input, planned, reach.url),
    granted: findYes(admitted.registered, reach.host, scope),
  })
  if (decision.effect === 'deny')
    return callError('POLICY.DENY_TOOL', decision.denial ?? 'rule_denied', {
      message: `"${definition.name}" may not go on to the host "${reach.host}": ${decision.reason}. Nothing was sent there.${target(reach)}`,
      data: { layer: decision.layer, rule: decision.rule, url: reach.url },
    })
  if (decision.effect === 'allow' || isAnswered(reach, decision, { planned, admitted })) return undefined
  return callError('AUTH.CONSENT_REQUIRED', 'consent_missing', {
    message: `"${definition.name}" was led on to the host "${reach.host}", which is not allowed for it. Nothing was sent there. To reach it, make a call with the URL itself.${target(reach)}`,
    data: { host: reach.host, url: reach.url },
  })
}

/** The URL, which a stranger wrote, between marks. */
function target({ url }: Reach): string {
  return `\n${markUntrusted(url, new URL(url).origin)}`
}

/**
 * Whether what is asked about a host was asked when the call was decided. A plan may name hosts by a pattern: then the person has seen that one,
 * and no rule that speaks of this host alone.
 */
function isAnswered(
  { host }: Reach,
  { layer, rule }: Decision,
  { planned, admitted }: { planned: readonly Reach[]; admitted: Admitted },
): boolean {
  if (planned.some((operation) => operation.host === host)) return true
  if (!planned.some((operation) => matchHost(operation.host, host))) return false
  return (
    layer === 'defaults' ||
    admitted.decision.verdicts.some((verdict) => verdict.layer === layer && verdict.rule === rule)
  )
}

/** The input of a call that had named this URL in the first place: rules that match by input are held against it. */
function withUrl(input: JsonObject, planned: readonly Reach[], url: string): JsonObject {
  const named = new Set(planned.map((operation) => operation.url))
  const fields = Object.entries(input).map(([field, value]): [string, Json] => [
    field,
    typeof value === 'string' && URL.canParse(value) && named.has(new URL(value).href) ? url : value,
  ])
  return Object.fromEntries(fields)
}

/** A yes of the person, for the session or standing, to this tool and host. */
function findYes(
  registered: Registered,
  host: string,
  { tenant, session }: CallScope,
): 'session-approval' | 'consent' | undefined {
  const at = tenant.now()
  const given = session.approvals.get(`${registered.identity} ${host}`)
  if (given !== undefined && given.until > tenant.tick()) return 'session-approval'
  if (!session.standingConsents) return undefined
  // The digest of an input would cover that input, not where it leads.
  const { tenant: name, actor } = session.principal
  const standing = tenant.consents.covering({
    tenant: name,
    actor,
    registered,
    scope: host,
    input: () => '',
    at,
  })
  return standing === undefined ? undefined : 'consent'
}

async function authorise(reach: Reach, admitted: Admitted, scope: CallScope): Promise<CallError | undefined> {
  const use = { action: operationAction(reach), resource: operationUrn(reach), operation: reach }
  return (await authoriseUse(admitted, use, scope))?.error
}
