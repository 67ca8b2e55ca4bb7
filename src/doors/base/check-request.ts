import type { Issue } from '../../contract/base/json.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { findStrictCounts, findUnfit } from '../schema/find-unfit.ts'
import { isKeywords } from '../schema/lowering.ts'
import { fieldsOf } from './message-fields.ts'
import { findRules, type RuleQuery } from '../rules/find-rules.ts'

/** A tool of a request, and where its parts stand. */
export interface RequestTool {
  readonly at: string
  readonly name: unknown
  readonly description: unknown
  readonly schema: unknown
  /** The pointer to its schema. */
  readonly schemaAt: string
  readonly strict?: boolean
  readonly field?: RuleQuery['field']
}

/** An id of a call in a request. */
export interface RequestId {
  readonly at: string
  readonly id: unknown
}

/** The query for a request that may name its model itself. */
export function queryOf(request: object, query: RuleQuery): RuleQuery {
  const { model } = fieldsOf(request)
  return query.model === undefined && typeof model === 'string' ? { ...query, model } : query
}

/** What the provider does not take of the tools of a request. */
export function checkTools(tools: readonly RequestTool[], at: string, query: RuleQuery): Issue[] {
  const rules = findRules(query)
  const most = rules.find('tool-count')?.max ?? Infinity
  const strict = tools
    .filter((tool) => tool.strict === true)
    .map(({ schema }) => schema)
    .filter(isKeywords)
  return [
    ...(tools.length > most ? [refusal(at, `There are ${tools.length} tools; ${most} are taken.`)] : []),
    ...tools.flatMap((tool) => checkTool(tool, query)),
    ...findStrictCounts(strict, findRules({ ...query, strict: true })).map((issue) => ({
      ...issue,
      pointer: at,
    })),
  ]
}

function checkTool(tool: RequestTool, query: RuleQuery): Issue[] {
  const { at, name, description, schema, schemaAt, strict = false, field } = tool
  const rules = findRules({ ...query, strict, ...(field !== undefined && { field }) })
  const pattern = rules.find('tool-name')?.pattern
  const longest = rules.find('tool-description')?.maxLength ?? Infinity
  const isNamed = typeof name === 'string' && (pattern?.test(name) ?? true)
  const length = typeof description === 'string' ? description.length : 0
  return [
    ...(isNamed ? [] : [refusal(pointerTo(at, 'name'), `The name of a tool must match ${String(pattern)}.`)]),
    ...(length > longest
      ? [refusal(pointerTo(at, 'description'), `It has ${length} characters; ${longest} are taken.`)]
      : []),
    ...(schema === undefined ? [] : findUnfit(schema, rules)).map(({ pointer, message }) =>
      refusal(schemaAt + pointer, message),
    ),
  ]
}

/** What the provider does not take of the ids of calls. */
export function checkIds(ids: readonly RequestId[], query: RuleQuery): Issue[] {
  const pattern = findRules(query).find('call-id')?.pattern
  return ids
    .filter(({ id }) => pattern !== undefined && (typeof id !== 'string' || !pattern.test(id)))
    .map(({ at }) => refusal(at, `The id of a call must match ${String(pattern)}.`))
}

/** An issue of a request. */
export function refusal(pointer: string, message: string): Issue {
  return { pointer, code: 'unfit_request', message }
}
