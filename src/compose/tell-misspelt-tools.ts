import type { Registry } from '../contract/registry.ts'
import type { PolicyChange } from '../contract/runtime.ts'
import { findMisspeltTools } from '../policy/find-misspelt-tools.ts'
import { localTenant } from './tenant-contexts.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'

interface Surroundings {
  readonly registry: Registry
  readonly onError: NonNullable<RuntimeOptions['onError']>
}

/** Says which names in what denies and asks are of no tool that is here, and look like one that is: nothing else would. */
export function tellMisspeltTools(change: PolicyChange, { registry, onError }: Surroundings): void {
  const tenants = [localTenant, ...Object.keys(change.policy?.tenants ?? {})]
  const tools = tenants.flatMap((tenant) => registry.view(tenant).list())
  const names = new Set(tools.map(({ definition }) => definition.name))
  for (const { pointer, named, meant } of findMisspeltTools(change, names)) {
    const message = `${pointer}: there is no tool "${named}" here, so that this matches nothing. Did you mean "${meant}"?`
    onError({ call: '', tool: named, cause: new Error(message) })
  }
}
