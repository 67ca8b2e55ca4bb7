import {
  unitsOfMoney,
  type BudgetPlan,
  type CallBudget,
  type HeldBudget,
  type ModelBudget,
} from '../state/budget-state.ts'
import type { CallError } from '../../contract/base/errors.ts'
import type { ReservedUnits } from '../../contract/evidence.ts'
import type { Budget, CallUnit, ToolPrice } from '../../contract/policy.ts'
import type { Principal } from '../../contract/base/principal.ts'
import type { BudgetState } from '../../contract/runtime.ts'
import type { Profile } from '../../contract/base/profile.ts'
import type { BudgetSettlement, ReservationItem, Store } from '../../contract/store.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { callError } from '../../kit/result/call-error.ts'
import { meetsPatterns } from '../../kit/match/match-pattern.ts'
import { showDuration } from '../../kit/time/show-duration.ts'

/** What a call spent, as its end tells. */
export interface Spending {
  bytesIn: number
  bytesOut: number
  wallMs: number
  /** Whether its tool could not be stopped, and ran on after the answer. */
  outlived: boolean
}

/** The parts of a call that its budgets look at. */
export interface BudgetedCall {
  principal: Principal
  definition: ToolDefinition
  profile: Profile
  bytesIn: number
  /** Milliseconds since the epoch. */
  at: number
}

/** A reservation of a process that died is void after so long. */
const leaseMs = 60_000

/** Undefined for a policy without budgets, so that calls spend no time on them. */
export function planBudgets(
  budgets: readonly Budget[],
  prices: readonly ToolPrice[],
): BudgetPlan | undefined {
  if (budgets.length === 0) return undefined
  const known = new Map<string, readonly CallBudget[]>()
  const ofCalls = budgets.filter(isOfCalls)
  const ofMoney = budgets.filter(isOfMoney)
  const ofModels = budgets.filter(isOfModels)
  return {
    budgetsFor({ tenant, actor }, { name }) {
      const key = `${tenant} ${actor} ${name}`
      let found = known.get(key)
      if (found === undefined) {
        const price = priceOf(name, prices)
        const all: readonly CallBudget[] =
          price === 0 ? ofCalls : [...ofCalls, ...ofMoney.map((budget) => ({ ...budget, price }))]
        found = all.filter(
          (budget) =>
            meetsPatterns(budget.tenants, tenant) &&
            meetsPatterns(budget.actors, actor) &&
            meetsPatterns(budget.tools, name),
        )
        if (known.size >= rememberedCallers) known.clear()
        known.set(key, found)
      }
      return found
    },
    modelBudgetsFor: ({ tenant, actor }) =>
      ofModels.filter(
        (budget) => meetsPatterns(budget.tenants, tenant) && meetsPatterns(budget.actors, actor),
      ),
  }
}

function isOfModels(budget: Budget): budget is ModelBudget {
  return budget.unit === 'tokens' || budget.unit === 'money'
}

function isOfMoney(budget: Budget): budget is Budget & { unit: 'money' } {
  return budget.unit === 'money'
}

function isOfCalls(budget: Budget): budget is Budget & { unit: CallUnit } {
  return !isOfModels(budget)
}

/** In millionths. */
function priceOf(tool: string, prices: readonly ToolPrice[]): number {
  const { perCall = 0 } = prices.find(({ tools }) => meetsPatterns(tools, tool)) ?? {}
  return Math.ceil(perCall * unitsOfMoney)
}

/** After so many different callers and tools, all are looked for anew. */
const rememberedCallers = 100_000

/** Takes what a call can spend at most from all its accounts, or says which one has too little left. */
export function reserveBudgets(
  budgets: readonly CallBudget[],
  call: BudgetedCall & { id: string },
  store: Store,
): HeldBudget | CallError {
  const items = budgets.map((budget) => toItem(budget, call))
  const { tenant } = call.principal
  const answer = store.reserve({ call: call.id, tenant, at: call.at, leaseMs, items })
  if (answer.state === 'refused') {
    const budget = budgets[answer.item]
    const item = items[answer.item]
    if (budget === undefined || item === undefined)
      throw new Error('The store refused an item that does not exist.')
    const { reserved } = store.balance(item.account, call.at)
    return refusal(budget, { item, left: answer.left, reserved, call })
  }
  const givenFor = (unit: CallBudget['unit']) =>
    answer.given.filter((_, index) => budgets[index]?.unit === unit)
  return {
    accounts: budgets.map(({ id, unit }, index) => ({
      budget: id,
      account: items[index]?.account ?? '',
      unit,
      units: answer.given[index] ?? 0,
      endsAt: items[index]?.endsAt ?? Number.POSITIVE_INFINITY,
    })),
    meter: budgets.some(({ unit }) => unit === 'cpuMs') ? { cpuMs: 0 } : undefined,
    allowance: {
      timeoutMs: Math.min(call.profile.timeoutMs, ...givenFor('wallMs')),
      maxBytesOut: Math.min(call.profile.maxBytesOut, ...givenFor('bytesOut')),
    },
  }
}

/** The first account that has too little left for this call right now; takes nothing. */
export function findExhausted(
  budgets: readonly CallBudget[],
  call: BudgetedCall,
  store: Store,
): CallError | undefined {
  for (const budget of budgets) {
    const item = toItem(budget, call)
    const { spent, reserved } = store.balance(item.account, call.at)
    const left = item.limit - spent - reserved
    if (left < item.least) return refusal(budget, { item, left, reserved, call })
  }
  return undefined
}

/** What is left of each budget of a call. */
export function describeBudgets(
  budgets: readonly CallBudget[],
  call: BudgetedCall,
  store: Store,
): BudgetState[] {
  return budgets.map((budget) => {
    const item = toItem(budget, call)
    const { spent, reserved } = store.balance(item.account, call.at)
    return {
      id: budget.id,
      unit: budget.unit,
      limit: budget.limit,
      spent: inUnits(spent, budget),
      reserved: inUnits(reserved, budget),
      ...(Number.isFinite(item.endsAt) && { endsAt: item.endsAt }),
    }
  })
}

/** What the begin of a call says of its reservation. */
export function toReserved({ accounts }: HeldBudget): ReservedUnits[] {
  return accounts.map(({ budget, account, units, endsAt }) => ({
    budget,
    account,
    units,
    ...(Number.isFinite(endsAt) && { endsAt }),
  }))
}

/** What takes the place of a reservation once the call has ended. Only CPU time, and what a tool that could not be stopped took, can be more than was reserved. */
export function toSettlement(
  held: HeldBudget,
  call: { id: string; definition: ToolDefinition },
  spending: Spending,
): BudgetSettlement {
  const { outlived, ...measured } = spending
  const units: { readonly [unit in CallUnit]: number } = {
    ...measured,
    cpuMs: held.meter?.cpuMs ?? 0,
    calls: 1,
    cost: call.definition.cost,
  }
  return {
    call: call.id,
    spent: held.accounts.map(({ account, unit, units: given }) => {
      if (unit === 'money') return { account, units: given }
      const spent = Math.ceil(units[unit])
      return { account, units: unit === 'cpuMs' || outlived ? spent : Math.min(spent, given) }
    }),
  }
}

/** The same for a call whose tool was not started. */
export function settleUnspent(held: HeldBudget, call: string): BudgetSettlement {
  return { call, spent: held.accounts.map(({ account }) => ({ account, units: 0 })) }
}

/** The same by the ids of budgets. The call tells which account of a budget it is. */
export function spentByBudget(held: HeldBudget, { spent }: BudgetSettlement): { [budget: string]: number } {
  return Object.fromEntries(held.accounts.map(({ budget }, index) => [budget, spent[index]?.units ?? 0]))
}

function toItem(budget: CallBudget, call: BudgetedCall): ReservationItem {
  const { principal, definition, at } = call
  const account = toAccount(budget, { principal, tool: definition.name, at })
  return { ...account, ...unitsOf(budget, call) }
}

/** What an account counts, in the units of its budget. */
function inUnits(count: number, { unit }: Budget): number {
  return unit === 'money' ? count / unitsOfMoney : count
}

/** Which account of a budget counts something, and what it holds. */
export function toAccount(
  { id, unit, windowMs, limit, each = ['tenant'] }: Budget,
  { principal, tool, at }: { principal: Principal; tool: string; at: number },
): Pick<ReservationItem, 'account' | 'limit' | 'endsAt'> {
  const start = windowMs === undefined ? undefined : Math.floor(at / windowMs) * windowMs
  const parts = each.map((dimension) => `${dimension}=${dimension === 'tool' ? tool : principal[dimension]}`)
  return {
    account: [id, ...parts, ...(start === undefined ? [] : [String(start)])].join(' '),
    limit: unit === 'money' ? limit * unitsOfMoney : limit,
    endsAt: start === undefined || windowMs === undefined ? Number.POSITIVE_INFINITY : start + windowMs,
  }
}

/** What is known beforehand is wanted as it is; of what is only bounded, as much as there is, and at least one unit. */
function unitsOf(budget: CallBudget, call: BudgetedCall): { units: number; least: number } {
  const exactly = (units: number) => ({ units, least: units })
  switch (budget.unit) {
    case 'calls':
      return exactly(1)
    case 'money':
      return exactly(budget.price)
    case 'bytesIn':
      return exactly(call.bytesIn)
    case 'cost':
      return exactly(call.definition.cost)
    case 'bytesOut':
      return { units: call.profile.maxBytesOut, least: 1 }
    case 'cpuMs':
    case 'wallMs':
      return { units: call.profile.timeoutMs, least: 1 }
  }
}

const reasons: { readonly [unit in CallBudget['unit']]: string } = {
  calls: 'calls',
  bytesIn: 'bytes',
  bytesOut: 'bytes',
  cpuMs: 'cpu_ms',
  wallMs: 'wall_ms',
  cost: 'cost',
  money: 'money',
}

function refusal(
  budget: CallBudget,
  about: { item: ReservationItem; left: number; reserved: number; call: BudgetedCall },
): CallError {
  const { item, left, reserved } = about
  const { at, definition } = about.call
  const tool = definition.name
  const waits = Number.isFinite(item.endsAt)
  const retryAfterMs = waits ? Math.max(1, item.endsAt - at) : undefined
  // What they do not spend comes back when they end.
  const isHeld = left + reserved >= item.least
  const code = budget.kind === 'rate' ? 'QUOTA.RATE_LIMITED' : 'QUOTA.BUDGET_EXCEEDED'
  const remaining = inUnits(Math.max(0, left), budget)
  const what = `The budget "${budget.id}" has ${remaining} of ${budget.limit} ${budget.unit} left, too few for "${tool}", which needs ${inUnits(item.least, budget)}`
  const now = isHeld
    ? `Calls that run or come next hold ${inUnits(reserved, budget)} more; what they do not spend is free when they end. Try again then.`
    : retryAfterMs === undefined
      ? 'Stop, or let the operator raise it.'
      : `Come again in ${showDuration(retryAfterMs)}, or do something else.`
  return callError(code, reasons[budget.unit], {
    message: `${what}. ${now}`,
    data: {
      budget: budget.id,
      unit: budget.unit,
      limit: budget.limit,
      left: remaining,
      ...(isHeld && { reserved: inUnits(reserved, budget) }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
  })
}
