import { modesByReach, type Mode } from '../../contract/base/principal.ts'
import type { EnteredPlan, KeptPart } from '../state/session-book.ts'
import type { SessionMode } from '../state/session-mode.ts'

/** What the mode of a session is made of. */
interface ModeParts {
  readonly opened: Mode
  readonly plan: KeptPart<EnteredPlan>
  /** Of the session that opened this one. */
  readonly above: SessionMode | undefined
}

/** The mode of a session. It is never wider than the one that the session above has. */
export function createSessionMode({ opened, plan, above }: ModeParts): SessionMode {
  let limit = opened
  /** Whether plan mode counts here that the store did not take, or does not have yet. */
  let isUnkept = false
  /** Another process may have entered it, from a narrower mode than the one that this one opened the session in. */
  const isEntered = (): boolean => {
    const entered = plan.read()
    if (entered !== undefined) limit = narrower(limit, entered.before)
    return isUnkept || entered !== undefined
  }
  const planning: SessionMode['planning'] = () => {
    if (above?.current() === 'plan') return 'above'
    const entered = isEntered()
    if (limit === 'plan') return 'opened'
    return entered ? 'entered' : undefined
  }
  return {
    planning,
    current: () => (planning() === undefined ? limit : 'plan'),
    beneath() {
      isEntered()
      return limit
    },
    async enter() {
      isUnkept = true
      if (plan.read() === undefined) await plan.write({ before: limit })
      isUnkept = false
    },
    async leave() {
      await plan.write(undefined)
      isUnkept = false
    },
  }
}

function narrower(one: Mode, other: Mode): Mode {
  return modesByReach.indexOf(one) < modesByReach.indexOf(other) ? one : other
}
