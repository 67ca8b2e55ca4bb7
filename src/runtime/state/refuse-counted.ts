import { ToolFailure } from '../../contract/base/errors.ts'
import type { Admitted } from './call-state.ts'

/**
 * Fails if a budget counts the time of the tool: what a program spends after its call has ended would be missed by it. `instead` says
 * what to do.
 */
export function refuseCounted({ budget, registered }: Admitted, what: string, instead: string): void {
  const counting = budget?.accounts.find(({ unit }) => unit === 'cpuMs' || unit === 'wallMs')
  if (counting === undefined) return
  throw new ToolFailure({
    code: 'QUOTA.BUDGET_EXCEEDED',
    reason: counting.unit === 'cpuMs' ? 'cpu_ms' : 'wall_ms',
    message: `The budget "${counting.budget}" counts the time of "${registered.definition.name}", and cannot count that of ${what}. ${instead}`,
    data: { budget: counting.budget },
  })
}
