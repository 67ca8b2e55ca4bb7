import type { Budget, CallUnit, ModelUnit } from '../../contract/policy.ts'
import type { Principal } from '../../contract/base/principal.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'

/** The budgets of a policy, ready to ask what a call wants of which accounts. */
export interface BudgetPlan {
  /** The budgets that count this tool's calls by this principal, those of money if the call costs some. */
  budgetsFor(principal: Principal, definition: ToolDefinition): readonly CallBudget[]
  /** The budgets that count what models answer this principal. */
  modelBudgetsFor(principal: Principal): readonly ModelBudget[]
}

/** Accounts of money count millionths. */
export const unitsOfMoney = 1_000_000

/** A budget as it counts the calls of one tool; one of money knows what each costs. */
export type CallBudget = Budget & ({ unit: CallUnit } | { unit: 'money'; readonly price: number })
export type ModelBudget = Budget & { unit: ModelUnit }

/** What a call may spend at most, once it has its reservation. */
export interface Allowance {
  readonly timeoutMs: number
  readonly maxBytesOut: number
}

/** A reservation that a call holds: what was given from which account. */
export interface HeldBudget {
  readonly accounts: readonly {
    readonly budget: string
    readonly account: string
    readonly unit: CallBudget['unit']
    /** What was given of it. */
    readonly units: number
    /** When its window ends; `Infinity` for a budget in total. */
    readonly endsAt: number
  }[]
  readonly allowance: Allowance
  /** Where CPU time is added up; only if an account counts it. */
  readonly meter: { cpuMs: number } | undefined
}
