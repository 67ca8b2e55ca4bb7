import { SetupError } from '../contract/errors.ts'
import type { RuntimeEvent } from '../contract/events.ts'
import type { Evidence } from '../contract/evidence-log.ts'
import type { PolicyChange } from '../contract/runtime.ts'
import { localTenant, type Grounds } from './lay-grounds.ts'

interface Reload {
  grounds: Grounds
  evidence: Evidence
  now(): number
  announce(event: RuntimeEvent): void
}

/** Lays the grounds anew, and notes it. A change with a fault changes nothing, and is noted too. */
export async function reloadPolicy(change: PolicyChange, about: Reload): Promise<void> {
  const { grounds } = about
  const before = grounds.of(localTenant).ground.policy.digest
  try {
    grounds.reload(change)
  } catch (error) {
    if (error instanceof SetupError)
      await note(about, {
        event: 'policy_refused',
        message: `a new policy was refused and the old one stays in force: ${error.message}`,
        data: { policy: before, version: grounds.version },
      })
    throw error
  }
  const after = grounds.of(localTenant).ground.policy.digest
  await note(about, {
    event: 'policy_changed',
    message: `version ${grounds.version} of the policy is in force`,
    data: { before, policy: after, version: grounds.version },
  })
}

interface Change {
  event: 'policy_changed' | 'policy_refused'
  message: string
  data: { [key: string]: string | number }
}

async function note(about: Reload, { event, message, data }: Change): Promise<void> {
  const at = about.now()
  about.announce({
    type: event,
    sequence: 0,
    level: event === 'policy_refused' ? 'failure' : 'info',
    at,
    tenant: localTenant,
    session: '',
    summary: message,
    data,
  })
  await about.evidence.tell({ kind: 'note', event, tenant: localTenant, session: '', at, message, data }, {})
}
