import type { ScheduleCaller, Schedules } from '../../contract/services/schedules.ts'
import type { Registered } from '../../contract/registry.ts'
import type { LoadedSkill } from '../../contract/services/skill.ts'
import type { Preflight } from '../../contract/runtime.ts'
import { isBuiltin } from '../../kit/builtin-tools.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { matchPattern } from '../../kit/match/match-pattern.ts'
import { newId } from '../../kit/new-id.ts'
import { redactorOf } from '../record/treatments.ts'
import type { Authorised } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'

/** The schedules that a call may look at and change, as long as it has not ended. */
export function openSchedules(
  { registered }: Pick<Authorised, 'registered'>,
  scope: CallScope,
  ended: () => boolean,
): Schedules {
  const { tenant, session } = scope
  const { principal, endings } = session
  const redactor = redactorOf(registered, scope)
  const caller: ScheduleCaller = {
    tenant: principal.tenant,
    actor: principal.actor,
    role: principal.role,
    session: session.id,
    mode: session.modes.beneath(),
    isBelow: session.ancestors !== undefined,
    standingConsents: session.standingConsents,
    tools: () =>
      session
        .opened()
        .tools({ shared: true, all: true })
        .map(({ tool }) => tool)
        .filter((tool) => !session.skills().some((skill) => isHeld(session.find(tool, 'canonical'), skill))),
    identify(tool) {
      const found = session.find(tool, 'canonical')
      return found && (isBuiltin(found.tool) ? found.line : found.identity)
    },
    async decide(tool, input) {
      const { keyFrom } = session.find(tool, 'canonical')?.definition ?? {}
      // Each run has a key of its own.
      const key = keyFrom === 'call' ? { idempotencyKey: newId('run', tenant.now()) } : {}
      const report = await session.opened().preflight(tool, input, { origin: 'system', ...key })
      const { error, decision } = report
      return { words: inWords(report), error, bySkill: decision?.layer === 'skill' }
    },
    hasSecret: (value) => canonicalJson(redactor.json(value)) !== canonicalJson(value),
    onClosed(listener) {
      if (endings.closed) return listener()
      endings.listeners.add((call) => {
        if (call === undefined) listener()
      })
    },
    ended,
  }
  return tenant.schedules.open(caller)
}

/** Runs follow no skill: of a tool that one leaves in part, they would have all. */
function isHeld(found: Registered | undefined, { narrowing }: LoadedSkill): boolean {
  const { bounded = [], denied = [] } = narrowing
  if (found === undefined) return true
  const { name, capabilities } = found.definition
  const runs = capabilities.proc.executables.length > 0
  const reaches = runs || Object.values(capabilities.fs).some(({ length }) => length > 0)
  return (
    bounded.some((each) => matchPattern(each, name)) ||
    denied.some(({ tools, commands }) => {
      if (tools !== undefined) return tools.some((each) => matchPattern(each, name))
      // What is said of commands or files alone is said of every tool that runs or reaches such.
      return commands === undefined ? reaches : runs
    })
  )
}

function inWords({ effect, error, preview, decision }: Preflight): string {
  const what = preview === undefined ? '' : ` (${preview.title})`
  if (effect === 'allow') return `it would run without asking${what}`
  if (decision?.effect === 'ask') return `it would wait for a person each time${what}`
  return `it would fail: ${error?.message ?? 'it is denied'}`
}
