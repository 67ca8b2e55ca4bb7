import type { Tasks } from '../../contract/base/tasks.ts'
import type { RunWatch } from '../limits/run-watch.ts'
import { redactorOf } from '../record/treatments.ts'
import type { Admitted } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'

/** The tasks that a call of this session may work with. */
export function openTasks({ registered }: Admitted, scope: CallScope, watch: RunWatch): Tasks {
  const { tenant, session } = scope
  const { principal } = session
  const redactor = redactorOf(registered, scope)
  return tenant.tasks.open({
    tenant: principal.tenant,
    actor: principal.actor,
    role: principal.role,
    session: session.id,
    redact: (value) => redactor.json(value),
    ended: () => watch.ended !== undefined || watch.answered,
  })
}
