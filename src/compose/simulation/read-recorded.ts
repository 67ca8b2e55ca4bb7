import type { Operation } from '../../contract/tool/plan.ts'
import type { Policy } from '../../contract/policy.ts'
import type { RecordedCall } from '../../evidence/read-calls.ts'
import type { Simulation } from './create-simulation.ts'

/** Whether a rule of a policy looks at the input of calls. */
export function readsInput({ rules = [], tenants = {} }: Policy): boolean {
  const all = [...rules, ...Object.values(tenants).flatMap((tenant) => tenant.rules ?? [])]
  return all.some(({ input, inputOnly }) => input !== undefined || inputOnly === true)
}

/** Why a call cannot be judged from its evidence. */
export function findObstacle(
  { begin, inputText, changed }: RecordedCall,
  { simulation, readsInput }: { simulation: Simulation; readsInput: boolean },
): string | undefined {
  if (begin.decision === undefined) return 'it ended before anything was decided'
  if (begin.decision.layer === 'decision-point') return 'a decision point outside of the policy decided'
  if (simulation.find(begin.tool, begin.tenant) === undefined) return `its tool "${begin.tool}" is not here`
  if (inputText === undefined && begin.plan !== undefined) return 'its plan was pruned'
  if (inputText === undefined && readsInput) return 'its input was pruned, and the policy has rules on that'
  if (changed.includes('operations')) return 'its plan is not the one whose digest its record has'
  return readsInput && changed.includes('input')
    ? 'its input is not the one whose digest its record has'
    : undefined
}

/** What it would have reached. Undefined for a call that was denied before its tool could plan it. */
export function operationsOf(
  { begin, operations }: RecordedCall,
  simulation: Simulation,
): readonly Operation[] | undefined {
  const neverPlanned = begin.decision?.effect === 'deny' && begin.plan === undefined
  return neverPlanned && simulation.find(begin.tool, begin.tenant)?.tool.plan !== undefined
    ? undefined
    : operations
}
