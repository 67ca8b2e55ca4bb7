import type { Issue } from '../../contract/base/json.ts'
import type { ApproverRule, Budget, Grant, Obligation, Policy, ToolPrice } from '../../contract/policy.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { matchPattern } from '../../kit/match/match-pattern.ts'
import { checkEach, checkIds } from '../base/check-lists.ts'
import { checkRules } from './check-rules.ts'
import { checkTenants } from './check-tenants.ts'
import { findClashingObligations } from './find-conflicts.ts'
import {
  findFolderFlaw,
  findHostFlaw,
  findDeciderFlaw,
  findIdFlaw,
  findProgramFlaw,
  findToolFlaw,
} from '../base/find-flaw.ts'

/**
 * What a schema cannot say of a policy that fits it: parts that could never count, that contradict each other, or that leave nothing
 * to do. The checker reads the patterns of obligations, which are written in the pattern language of schemas.
 */
export function checkPolicy(policy: Policy, checker: SchemaChecker): Issue[] {
  const {
    rules = [],
    grants = [],
    budgets = [],
    prices = [],
    obligations = [],
    approvers = [],
    allowBypass = false,
  } = policy
  return [
    ...checkMode(policy),
    ...checkEach(policy.network?.hosts, '/network/hosts', { code: 'never_matches', find: findHostFlaw }),
    ...checkRules(rules, { pointer: '/rules', layer: 'policy', allowBypass }),
    ...checkTenants(policy),
    ...grants.flatMap((grant, index) => checkGrant(grant, pointerTo('/grants', index), policy)),
    ...checkIds(grants, '/grants', (index) => `grants/${index}`),
    ...budgets.flatMap((budget, index) => checkBudget(budget, pointerTo('/budgets', index), policy)),
    ...checkIds(budgets, '/budgets'),
    ...prices.flatMap((price, index) => checkPrice(price, pointerTo('/prices', index), policy)),
    ...obligations.flatMap((obligation, index) =>
      checkObligation(obligation, pointerTo('/obligations', index), { policy, checker }),
    ),
    ...checkIds(obligations, '/obligations'),
    ...findClashingObligations(obligations, '/obligations'),
    ...approvers.flatMap((rule, index) => checkApprovers(rule, pointerTo('/approvers', index), policy)),
    ...checkIds(approvers, '/approvers', (index) => `approvers/${index}`),
  ]
}

function checkMode({ mode, allowBypass = false }: Policy): Issue[] {
  if (mode !== 'bypass' || allowBypass) return []
  const message =
    'Sessions that name no mode would be in "bypass", which the policy does not allow. Set "allowBypass": true, or another mode.'
  return [{ pointer: '/mode', code: 'contradiction', message }]
}

type Matchers = Pick<Grant, 'tenants' | 'actors' | 'tools'>

function checkMatchers({ tenants, actors, tools }: Matchers, pointer: string, policy: Policy): Issue[] {
  const flawOfTenant = (pattern: string) => findIdFlaw(pattern) ?? findMissingTenant(pattern, policy)
  return [
    ...checkEach(tenants, `${pointer}/tenants`, { code: 'never_matches', find: flawOfTenant }),
    ...checkEach(actors, `${pointer}/actors`, { code: 'never_matches', find: findIdFlaw }),
    ...checkEach(tools, `${pointer}/tools`, { code: 'never_matches', find: findToolFlaw }),
  ]
}

function findMissingTenant(pattern: string, { tenants }: Policy): string | undefined {
  if (tenants === undefined) return undefined
  const known = ['local', ...Object.keys(tenants)]
  return known.some((tenant) => matchPattern(pattern, tenant))
    ? undefined
    : `"${pattern}" matches none of the tenants that the policy names (${known.join(', ')}).`
}

function checkGrant(grant: Grant, pointer: string, policy: Policy): Issue[] {
  const { read, write, hosts, executables } = grant.capabilities ?? {}
  const inside = `${pointer}/capabilities`
  const check = (
    name: string,
    items: readonly string[] | undefined,
    find: (item: string) => string | undefined,
  ) => checkEach(items, `${inside}/${name}`, { code: 'never_matches', find })
  return [
    ...checkMatchers(grant, pointer, policy),
    ...check('read', read, findFolderFlaw),
    ...check('write', write, findFolderFlaw),
    ...check('hosts', hosts, findHostFlaw),
    ...check('executables', executables, findProgramFlaw),
  ]
}

function checkApprovers(rule: ApproverRule, pointer: string, policy: Policy): Issue[] {
  const { approvers, needed = 1, escalate } = rule
  const flaw = { code: 'never_matches', find: findDeciderFlaw }
  const named = [...(approvers ?? []), ...(escalate?.approvers ?? [])]
  const few =
    approvers !== undefined && named.every((each) => !each.includes('*')) && new Set(named).size < needed
  return [
    ...checkMatchers(rule, pointer, policy),
    ...checkEach(approvers, `${pointer}/approvers`, flaw),
    ...checkEach(escalate?.approvers, `${pointer}/escalate/approvers`, flaw),
    ...(few
      ? [
          {
            pointer: `${pointer}/needed`,
            code: 'contradiction',
            message: `${needed} people have to say yes, and only ${new Set(named).size} may. Name more approvers, or need fewer.`,
          },
        ]
      : []),
  ]
}

function checkBudget(budget: Budget, pointer: string, policy: Policy): Issue[] {
  const issues = checkMatchers(budget, pointer, policy)
  if (budget.kind === 'rate' && budget.windowMs === undefined)
    issues.push({
      pointer: `${pointer}/kind`,
      code: 'contradiction',
      message:
        'A rate is so much in a time, and this one has no window. Give it "windowMs", or make it a budget.',
    })
  const isOfModels = budget.unit === 'tokens' || budget.unit === 'money'
  if (isOfModels && (budget.tools !== undefined || budget.each?.includes('tool') === true))
    issues.push({
      pointer: `${pointer}/unit`,
      code: 'contradiction',
      message: `What models spend is of no tool. Leave "tools" out, and "tool" of "each"; or count another unit.`,
    })
  return issues
}

function checkPrice(price: ToolPrice, pointer: string, policy: Policy): Issue[] {
  const issues = checkMatchers(price, pointer, policy)
  const { budgets = [] } = policy
  if (price.perCall > 0 && !budgets.some(({ unit }) => unit === 'money'))
    issues.push({
      pointer,
      code: 'never_matches',
      message:
        'No budget counts money, so that the price holds nothing. Add one of the unit "money", or take the price out.',
    })
  return issues
}

function checkObligation(
  obligation: Obligation,
  pointer: string,
  { policy, checker }: { policy: Policy; checker: SchemaChecker },
): Issue[] {
  const flawOfPattern = (pattern: string) =>
    checker.inspect({ type: 'string', pattern }, 'native').map((issue) => issue.message)[0]
  return [
    ...checkMatchers(obligation, pointer, policy),
    ...checkEach(obligation.pointers, `${pointer}/pointers`, {
      code: 'invalid_pointer',
      find: findPointerFlaw,
    }),
    ...checkEach(obligation.patterns, `${pointer}/patterns`, {
      code: 'invalid_pattern',
      find: flawOfPattern,
    }),
    ...checkDeed(obligation, pointer),
  ]
}

/** RFC 6901, with `*` for every member or item. */
function findPointerFlaw(pointer: string): string | undefined {
  return /^(\/([^~/]|~[01])*)+$/.test(pointer)
    ? undefined
    : `"${pointer}" is not a JSON pointer: begin it with "/", and write "~" in a name as "~0" and "/" as "~1".`
}

/** Whether there is something to do, and nothing that would be left undone. */
function checkDeed(obligation: Obligation, pointer: string): Issue[] {
  const targets = (['pointers', 'patterns', 'classifications'] as const).filter(
    (field) => obligation[field] !== undefined,
  )
  if (obligation.action !== 'watermark') {
    if (targets.length === 0)
      return [
        {
          pointer,
          code: 'nothing_to_do',
          message: `This obligation names nothing to ${obligation.action}. Give it pointers, patterns or classifications.`,
        },
      ]
    return obligation.text === undefined
      ? []
      : [
          idle(
            `${pointer}/text`,
            `Only a watermark adds a text; "${obligation.action}" does not. Take it out.`,
          ),
        ]
  }
  const unused = targets.map((field) =>
    idle(`${pointer}/${field}`, 'A watermark is added to the result as a whole. Take this out.'),
  )
  if (obligation.text !== undefined) return unused
  return [
    ...unused,
    { pointer, code: 'nothing_to_do', message: 'This watermark has no text. Give it a "text" to add.' },
  ]
}

function idle(pointer: string, message: string): Issue {
  return { pointer, code: 'without_effect', message }
}
