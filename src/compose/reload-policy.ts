import { SetupError } from '../contract/base/errors.ts'
import type { RuntimeEvent } from '../contract/events.ts'
import type { Evidence } from '../contract/evidence-log.ts'
import type { PolicyChange } from '../contract/runtime.ts'
import { localTenant, type TenantContexts } from './tenant-contexts.ts'

interface Reload {
  tenants: TenantContexts
  evidence: Evidence
  now(): number
  announce(event: RuntimeEvent): void
}

/**
 * Makes the contexts of all tenants anew, and notes it: for the local tenant, and for each other known one for whom something is decided otherwise.
 * A change with an issue changes nothing, and is noted too.
 */
export async function reloadPolicy(change: PolicyChange, about: Reload): Promise<void> {
  const { tenants } = about
  const { digest: current } = tenants.of(localTenant).context.policy
  const before = tenants.digests()
  try {
    tenants.reload(change)
  } catch (error) {
    if (error instanceof SetupError)
      await note(about, {
        event: 'policy_refused',
        tenant: localTenant,
        message: `a new policy was refused and the old one stays in force: ${error.message}`,
        data: { policy: current, version: tenants.version },
      })
    throw error
  }
  const { version } = tenants
  for (const [tenant, policy] of tenants.digests()) {
    const last = before.get(tenant) ?? policy
    if (tenant !== localTenant && last === policy) continue
    await note(about, {
      event: 'policy_changed',
      tenant,
      message: `version ${version} of the policy is in force`,
      data: { before: last, policy, version },
    })
  }
}

interface Change {
  event: 'policy_changed' | 'policy_refused'
  tenant: string
  message: string
  data: { [key: string]: string | number }
}

async function note(about: Reload, { event, tenant, message, data }: Change): Promise<void> {
  const at = about.now()
  about.announce({
    type: event,
    sequence: 0,
    level: event === 'policy_refused' ? 'failure' : 'info',
    at,
    tenant,
    session: '',
    summary: message,
    data,
  })
  await about.evidence.tell({ kind: 'note', event, tenant, session: '', at, message, data }, {})
}
