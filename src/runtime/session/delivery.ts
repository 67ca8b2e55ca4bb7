import type { Deliverable } from '../../contract/deliverable.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import { collectDeliverables, isComplete } from '../output/collect-deliverables.ts'
import type { Ground, Traveller } from '../state/ground.ts'

/** What one session has to deliver. */
export interface Delivery {
  look(): Promise<readonly Deliverable[]>
  /** Takes what is there, once, and notes it in the evidence. Undefined for a session that has to deliver nothing. */
  settle(session: Traveller): Promise<DeliveryReport | undefined>
}

/** The end of a run, as its event, its note and its archive tell it. */
export type DeliveryReport = JsonObject & { status: 'complete' | 'incomplete' }

/** The delivery of these paths. */
export function createDelivery(paths: readonly string[], groundNow: () => Ground): Delivery {
  const since = Date.now()
  let settled: readonly Deliverable[] | undefined
  let report: DeliveryReport | undefined
  return {
    async look() {
      if (settled !== undefined || paths.length === 0) return settled ?? []
      return collectDeliverables(paths, { ground: groundNow(), since, keep: false })
    },
    async settle(session) {
      if (paths.length === 0 || report !== undefined) return report
      const ground = groundNow()
      settled = await collectDeliverables(paths, { ground, since, keep: true })
      report = {
        status: isComplete(settled) ? 'complete' : 'incomplete',
        deliverables: settled.map((each) => ({ ...each })),
      }
      ground.evidence.note({
        kind: 'note',
        event: 'session_ended',
        tenant: session.principal.tenant,
        session: session.id,
        at: ground.now(),
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
