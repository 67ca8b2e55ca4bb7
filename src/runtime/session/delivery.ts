import type { Deliverable } from '../../contract/deliverable.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import { collectDeliverables, isComplete } from '../output/collect-deliverables.ts'
import type { TenantContext, SessionState } from '../state/scope.ts'

/** What one session has to deliver. */
export interface Delivery {
  look(): Promise<readonly Deliverable[]>
  /** Takes what is there, once, and notes it in the evidence. Undefined for a session that has to deliver nothing. */
  settle(session: SessionState): Promise<DeliveryReport | undefined>
}

/** The end of a run, as its event, its note and its archive tell it. */
export type DeliveryReport = JsonObject & { status: 'complete' | 'incomplete' }

/** The delivery of these paths. */
export function createDelivery(paths: readonly string[], tenantNow: () => TenantContext): Delivery {
  const since = Date.now()
  let settled: readonly Deliverable[] | undefined
  let report: DeliveryReport | undefined
  return {
    async look() {
      if (settled !== undefined || paths.length === 0) return settled ?? []
      return collectDeliverables(paths, { tenant: tenantNow(), since, keep: false })
    },
    async settle(session) {
      if (paths.length === 0 || report !== undefined) return report
      const tenant = tenantNow()
      settled = await collectDeliverables(paths, { tenant, since, keep: true })
      report = {
        status: isComplete(settled) ? 'complete' : 'incomplete',
        deliverables: settled.map((each) => ({ ...each })),
      }
      tenant.evidence.note({
        kind: 'note',
        event: 'session_ended',
        tenant: session.principal.tenant,
        session: session.id,
        at: tenant.now(),
        message: describe(settled),
        actor: session.principal.actor,
        data: report,
      })
      return report
    },
  }
}

function describe(deliverables: readonly Deliverable[]): string {
  const lacking = deliverables.filter(({ status }) => status !== 'delivered')
  const names = lacking.map(({ path, status }) => `${path} (${status})`).join(', ')
  const count = `${deliverables.length - lacking.length} of ${deliverables.length} deliverables are there`
  return lacking.length === 0 ? count : `${count}; not: ${names}`
}
