import { providerRules } from './provider-rules.ts'
import type { ModelApi, ProviderRule, Rule } from './rule.ts'

/** A request, as far as rules depend on it. */
export interface RuleQuery {
  readonly api: ModelApi
  readonly strict?: boolean
  readonly field?: ProviderRule['field']
  /** The name of the model, with that of its provider if it is not the API's own. */
  readonly model?: string | undefined
}

type RuleOf<Kind extends Rule['kind']> = Extract<Rule, { readonly kind: Kind }>

/** The rules for one kind of request. */
export interface Rules {
  find<Kind extends Rule['kind']>(kind: Kind): RuleOf<Kind> | undefined
}

/** The rows of the table that hold for a request; a row for some models holds before one for all. */
export function findRules({ api, strict = false, field, model }: RuleQuery): Rules {
  const rows = providerRules
    .filter(
      (row) =>
        row.api === api &&
        (row.strict === undefined || strict) &&
        (row.field === undefined || row.field === field) &&
        (row.model === undefined || (model !== undefined && row.model.test(model))) &&
        (model === undefined || row.notModel?.test(model) !== true),
    )
    .toSorted((left, right) => Number(left.model === undefined) - Number(right.model === undefined))
  const isOf =
    <Kind extends Rule['kind']>(kind: Kind) =>
    (rule: Rule): rule is RuleOf<Kind> =>
      rule.kind === kind
  return { find: (kind) => rows.map(({ rule }) => rule).find(isOf(kind)) }
}
