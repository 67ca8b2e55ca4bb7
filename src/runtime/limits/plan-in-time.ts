import { ToolFailure } from '../../contract/base/errors.ts'
import type { Plan, PlanContext } from '../../contract/tool/plan.ts'
import type { PermitHost, Sandbox } from '../../contract/services/sandbox.ts'
import { showDuration } from '../../kit/time/show-duration.ts'
import { openSchedules } from '../planning/open-schedules.ts'
import { lookAtPlanMode } from '../planning/open-plan-mode.ts'
import { openPastCalls } from '../undo/open-past-calls.ts'
import { abortedEarly } from './aborted-error.ts'
import { boundFiles, boundSearch } from './bound-effects.ts'
import type { Authorised } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'
import { lookAtParts } from '../planning/look-at-parts.ts'
import { toOwnPlan } from './own-plan.ts'
import { createRunWatch } from './run-watch.ts'

/**
 * What the tool says that the call would do. Rejects with what the plan throws, and with a ToolFailure if it takes longer than
 * the call may run or the call is aborted.
 */
export async function planInTime(authorised: Authorised, scope: CallScope): Promise<Plan> {
  const { definition, tool } = authorised.registered
  const watch = createRunWatch(authorised, scope.session.endings)
  const { timeoutMs } = authorised.profile
  if (watch.ended === undefined) {
    const planning = Promise.resolve(tool.plan?.(authorised.decoded, toPlanContext(authorised, scope)))
    const first = await watch.firstOf(planning, timeoutMs)
    if (first !== 'ended')
      return first.value === undefined ? nothingPlanned : toOwnPlan(first.value, definition.name)
  }
  if (watch.ended === 'timeout') {
    throw new ToolFailure({
      code: 'TOOL.TIMEOUT',
      reason: 'timed_out',
      message: `"${definition.name}" did not say within ${showDuration(timeoutMs)} what the call would do, so it did not run. Ask for less at a time.`,
    })
  }
  throw new ToolFailure(abortedEarly(definition.name, watch.ended, 'before it ran'))
}

/** Of a tool that plans nothing. */
export const nothingPlanned: Plan = { operations: [] }

/** The services of a plan read only: `enter` refuses their writing operations, and nothing is sent before it is allowed. */
function toPlanContext(authorised: Authorised, { tenant, session }: CallScope): PlanContext {
  const { definition } = authorised.registered
  const bounds = { definition, project: tenant.project }
  let effects: Effects | undefined
  const entered = (): Effects => (effects ??= enterToLook(authorised, { tenant, session }))
  let files: PlanContext['files'] | undefined
  return {
    principal: session.principal,
    project: tenant.project,
    writable: tenant.policy.writable,
    ...(definition.needs.includes('pastCalls') && {
      pastCalls: openPastCalls({ tenant, session }, undefined),
    }),
    ...(definition.needs.includes('planMode') && { planMode: lookAtPlanMode(session) }),
    ...(definition.needs.includes('parts') && { parts: lookAtParts(authorised, { tenant, session }) }),
    ...(definition.needs.includes('schedules') && {
      schedules: lookAtSchedules(authorised, { tenant, session }),
    }),
    // Most plans look at none of it.
    get files() {
      return (files ??= boundFiles(entered().files, bounds))
    },
    get search() {
      return boundSearch(entered().search, bounds)
    },
    get commands() {
      return entered().commands
    },
    get network() {
      return entered().network
    },
  }
}

type Effects = ReturnType<Sandbox['enter']>

/** What the call may look at unasked, and nothing else. */
export function enterToLook({ profile, registered }: Authorised, { tenant, session }: CallScope): Effects {
  const { definition } = registered
  const { principal, mode, ancestors } = session
  return tenant.sandbox.enter(profile, {
    access: 'read',
    permitHost: sendNothing,
    hidden: () => tenant.policy.hiddenGlobs({ definition, principal, mode, ancestors }),
  })
}

function lookAtSchedules(authorised: Authorised, scope: CallScope): PlanContext['schedules'] {
  const schedules = openSchedules(authorised, scope, () => false)
  return { examine: (wish) => schedules.examine(wish), find: (id) => schedules.find(id) }
}

const sendNothing: PermitHost = async ({ url }) => {
  throw new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'undeclared_capability',
    message: `A plan sends nothing, so "${url}" was not reached. Name it in the plan, and reach it when the call runs.`,
  })
}
