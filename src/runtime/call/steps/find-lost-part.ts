import type { CallError } from '../../../contract/base/errors.ts'
import type { Call } from '../../../contract/base/call.ts'
import type { Registered } from '../../../contract/registry.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { toolUrn } from '../../../kit/match/urn.ts'
import { treatmentOf } from '../../record/treatments.ts'
import { authoriseUse } from '../../permission/authorise-use.ts'
import type { CallScope } from '../../state/scope.ts'
import { factsOfTool } from './authorise.ts'

/** The kept result that is wanted, and by whom. */
interface KeptUse {
  readonly call: Pick<Call, 'origin'>
  readonly registered: Registered
  /** The digest of the policy under which it was made. */
  readonly policy: string
}

/**
 * Why a kept result of a composition is withheld, as what its parts returned stands in it: the session could not call one of them now, whatever the input,
 * or the policy of now hides something of what one returns. Undefined if it is not withheld.
 */
export async function findLostPart(
  { call, registered, policy }: KeptUse,
  scope: CallScope,
): Promise<CallError | undefined> {
  const { tenant, session } = scope
  for (const [part, tool] of Object.entries(registered.tool.composedOf ?? {})) {
    const found = session.find(tool, 'canonical')
    if (
      found === undefined ||
      session.exclusion(found) !== undefined ||
      session.status(found).outage !== undefined ||
      tenant.policy.decide(factsOfTool(found.definition, session)).effect === 'deny'
    )
      return lost(registered, part, tool)
    const use = { action: 'invoke', resource: toolUrn(tool) }
    if ((await authoriseUse({ call, registered: found }, use, scope)) !== undefined)
      return lost(registered, part, tool)
    // Its fields have other places in the whole.
    if (policy !== tenant.policy.digest && treatmentOf(found, scope) !== undefined)
      return hidden(registered, part)
    const below = await findLostPart({ call, registered: found, policy }, scope)
    if (below !== undefined) return below
  }
  return undefined
}

function lost({ definition }: Registered, part: string, tool: string): CallError {
  return callError('POLICY.DENY_TOOL', 'tool_not_available', {
    message: `The result of "${definition.name}" that is kept under this key has what its part "${part}" returned, and this session does not have or may not call "${tool}". Nothing was done again.`,
    data: { part, tool },
  })
}

function hidden({ definition }: Registered, part: string): CallError {
  return callError('POLICY.DENY_TOOL', 'kept_undecided', {
    message: `The result of "${definition.name}" that is kept under this key was made under another policy, and the policy of now hides something of what its part "${part}" returns. Nothing was done again. Use a new key to make the call anew.`,
    data: { part },
  })
}
