import type { CallError } from '../../contract/base/errors.ts'
import type { Principal } from '../../contract/base/principal.ts'
import type { ReservationItem, Store } from '../../contract/store.ts'
import { callError } from '../../kit/result/call-error.ts'
import { showDuration } from '../../kit/time/show-duration.ts'
import { unitsOfMoney, type ModelBudget } from '../state/budget-state.ts'
import { toAccount } from './budgets.ts'

/** What an answer of a model takes, or may take. */
export interface ModelUse {
  readonly tokens: number
  /** Undefined if the run has no price. */
  readonly cost: number | undefined
}

/** What was taken from budgets for an answer that is about to come. */
export interface HeldModelUse {
  /** Puts what the answer took in the place of what was reserved. */
  settle(use: () => ModelUse): Promise<void>
  /** There was no answer. */
  release(): void
}

/** The parts of a request to a model that its budgets look at. */
export interface BudgetedRequest {
  readonly id: string
  readonly principal: Principal
  /** Milliseconds since the epoch. */
  readonly at: number
  /** What it is going to take, as far as that can be told. Asked only if a budget counts it. */
  readonly estimate: () => ModelUse
}

const noBudget: HeldModelUse = { settle: async () => undefined, release: () => undefined }

/** A reservation of a process that died is void after so long. */
const leaseMs = 60_000

/**
 * Takes what an answer may spend from all accounts, or says which one has nothing left. An answer may take more than was left, as its length is known
 * when it has come; the next one is refused then.
 */
export function reserveModelUse(
  budgets: readonly ModelBudget[],
  request: BudgetedRequest,
  store: Store,
): HeldModelUse | CallError {
  if (budgets.length === 0) return noBudget
  const { id: call, principal, at } = request
  const estimate = request.estimate()
  const unpriced = budgets.find(({ unit }) => unit === 'money' && estimate.cost === undefined)
  if (unpriced !== undefined) return noPrice(unpriced)
  const items = budgets.map((budget): ReservationItem => {
    const account = toAccount(budget, { principal, tool: '', at })
    return { ...account, units: Math.max(1, unitsOf(budget, estimate)), least: 1 }
  })
  const answer = store.reserve({ call, tenant: principal.tenant, at, leaseMs, items })
  if (answer.state === 'refused') return refusal(budgets[answer.item], items[answer.item], at)
  return {
    release: () => store.refund(call),
    async settle(use) {
      const used = use()
      const spent = budgets.map((budget, index) => ({
        account: items[index]?.account ?? '',
        units: unitsOf(budget, used),
      }))
      await store.append([], { settle: [{ call, spent }] })
    },
  }
}

function unitsOf({ unit }: ModelBudget, { tokens, cost = 0 }: ModelUse): number {
  return unit === 'tokens' ? tokens : Math.ceil(cost * unitsOfMoney)
}

function noPrice({ id }: ModelBudget): CallError {
  return callError('QUOTA.BUDGET_EXCEEDED', 'money', {
    message: `The budget "${id}" counts money, and what this model costs is not known. Give the run a "price".`,
    data: { budget: id },
  })
}

function refusal(budget: ModelBudget | undefined, item: ReservationItem | undefined, at: number): CallError {
  if (budget === undefined || item === undefined)
    throw new Error('The store refused an item that does not exist.')
  const { id, unit, limit, kind } = budget
  const retryAfterMs = Number.isFinite(item.endsAt) ? Math.max(1, item.endsAt - at) : undefined
  const now =
    retryAfterMs === undefined
      ? 'Stop, or let the operator raise it, and resume the run.'
      : `Resume the run in ${showDuration(retryAfterMs)}.`
  return callError(kind === 'rate' ? 'QUOTA.RATE_LIMITED' : 'QUOTA.BUDGET_EXCEEDED', unit, {
    message: `The budget "${id}" of ${limit} ${unit === 'money' ? 'units of money' : unit} is used up. ${now}`,
    data: { budget: id, unit, limit, ...(retryAfterMs !== undefined && { retryAfterMs }) },
  })
}
