import type { PolicyCase } from '../../config/policy-cases.ts'
import type { Issue } from '../../contract/base/json.ts'
import { nearestNames } from '../../kit/text/nearest-names.ts'
import type { Simulation } from './create-simulation.ts'

/**
 * An issue for each case about a tool or a tenant that is not there, which would be denied whatever the policy says. A case that expects
 * the very rule by which it is, `tool_not_available` or `unknown_tenant`, means it.
 */
export function findMissing(cases: readonly PolicyCase[], simulation: Simulation): Issue[] {
  const known = new Map<string, readonly string[]>()
  const toolsOf = (tenant: string): readonly string[] => {
    const names = known.get(tenant) ?? simulation.definitions(tenant).map(({ name }) => name)
    known.set(tenant, names)
    return names
  }
  return cases.flatMap(({ tool, principal, expect }, index) => {
    const issues: Issue[] = []
    const miss = (what: 'tool' | 'tenant', name: string, known: readonly string[]) => {
      const near = nearestNames(name, known, 1).map((each) => `; did you mean "${each}"?`)
      issues.push({
        pointer: `/cases/${index}${what === 'tool' ? '/tool' : '/principal/tenant'}`,
        code: `unknown_${what}`,
        message: `There is no ${what} "${name}" here${what === 'tool' && tenant !== 'local' ? ` for the tenant "${tenant}"` : ''}${near[0] ?? '.'}`,
      })
    }
    const { tenant = 'local' } = principal ?? {}
    const tools = toolsOf(tenant)
    if (!tools.includes(tool) && expect.rule !== 'tool_not_available') miss('tool', tool, tools)
    if (simulation.tenants?.includes(tenant) === false && expect.rule !== 'unknown_tenant')
      miss('tenant', tenant, simulation.tenants)
    return issues
  })
}
