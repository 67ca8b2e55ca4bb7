import type { Memory } from '../../contract/services/memory.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { redactorOf } from '../record/treatments.ts'
import type { Admitted } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'

/** The memory of the tenant and project of a call, as long as it has not ended. */
export function openMemory({ call, registered }: Admitted, scope: CallScope, ended: () => boolean): Memory {
  const { tenant, session } = scope
  const { principal } = session
  const redactor = redactorOf(registered, scope)
  const run = principal.agent?.runId
  return tenant.memory.open({
    tenant: principal.tenant,
    actor: principal.actor,
    project: tenant.project,
    source: {
      by: 'model',
      actor: principal.actor,
      session: session.id,
      ...(run !== undefined && { run }),
      call: call.id,
      at: tenant.now(),
    },
    // What is hidden from results of the tool is not kept by it either.
    hasSecret: (fact) => canonicalJson(redactor.json(fact)) !== canonicalJson(fact),
    ended,
  })
}
