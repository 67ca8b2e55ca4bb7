import type { Issue } from '../../contract/base/json.ts'
import { findRules, type RuleQuery } from '../rules/find-rules.ts'
import { refusal, type RequestId } from './check-request.ts'

/** The calls of one answer, and the results in what follows it. */
export interface Exchange {
  readonly calls: readonly RequestId[]
  readonly results: readonly RequestId[]
}

/** The calls without a result, and the results without a call. */
export function checkPairs(exchanges: readonly Exchange[], query: RuleQuery): Issue[] {
  if (findRules(query).find('paired') === undefined) return []
  return exchanges.flatMap(({ calls, results }) => [
    ...findAlone(calls, results).map(({ at }) => refusal(at, 'This call has no result in what follows it.')),
    ...findAlone(results, calls).map(({ at }) =>
      refusal(at, 'This result has no call in the answer before it.'),
    ),
  ])
}

function findAlone(ones: readonly RequestId[], others: readonly RequestId[]): RequestId[] {
  const known = new Set(others.map(({ id }) => id))
  return ones.filter(({ id }) => !known.has(id))
}
