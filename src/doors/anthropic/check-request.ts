import type { Issue } from '../../contract/base/json.ts'
import { checkIds, checkTools, queryOf, refusal, type RequestId } from '../base/check-request.ts'
import { checkPairs, type Exchange } from '../base/check-pairs.ts'
import { fieldsOf, listOf } from '../base/message-fields.ts'
import { findRules, type RuleQuery } from '../rules/find-rules.ts'

/** What the Messages API would refuse of a request. */
export function checkAnthropicRequest(request: object, given: RuleQuery): readonly Issue[] {
  const query = queryOf(request, given)
  const { tools, messages } = fieldsOf(request)
  const own = listOf(tools).flatMap((tool, index) => {
    const { type, name, description, input_schema: schema, strict } = fieldsOf(tool)
    // Tools of the provider have a type of their own.
    if (type !== undefined && type !== null && type !== 'custom') return []
    const at = `/tools/${index}`
    return [{ at, name, description, schema, schemaAt: `${at}/input_schema`, strict: strict === true }]
  })
  const turns = listOf(messages).map((message, index) => readMessage(message, `/messages/${index}`))
  const isOrdered = findRules(query).find('results-first') !== undefined
  return [
    ...checkTools(own, '/tools', query),
    ...checkIds(
      turns.flatMap(({ calls, results }) => [...calls, ...results]),
      query,
    ),
    ...(isOrdered ? turns.flatMap(({ late }) => late) : []).map(({ at }) =>
      refusal(
        at.replace(/\/tool_use_id$/, ''),
        'Results of tools stand before everything else in a message.',
      ),
    ),
    ...checkPairs(toExchanges(turns), query),
  ]
}

/** Messages of one role in a row count as one. What follows the last one is still to come. */
function toExchanges(turns: readonly Turn[]): Exchange[] {
  const joined: Turn[] = []
  for (const turn of turns) {
    const last = joined.at(-1)
    if (last === undefined || last.role !== turn.role) joined.push(turn)
    else
      joined[joined.length - 1] = {
        ...last,
        calls: [...last.calls, ...turn.calls],
        results: [...last.results, ...turn.results],
      }
  }
  return [
    { calls: [], results: joined[0]?.results ?? [] },
    ...joined.slice(1).map(({ results }, index) => ({ calls: joined[index]?.calls ?? [], results })),
  ]
}

interface Turn {
  readonly role: unknown
  readonly calls: readonly RequestId[]
  readonly results: readonly RequestId[]
  /** Results that stand behind something else. */
  readonly late: readonly RequestId[]
}

function readMessage(message: unknown, at: string): Turn {
  const calls: RequestId[] = []
  const results: RequestId[] = []
  const late: RequestId[] = []
  let isLate = false
  for (const [place, block] of listOf(fieldsOf(message)['content']).entries()) {
    const { type, id, tool_use_id } = fieldsOf(block)
    const below = `${at}/content/${place}`
    if (type === 'tool_use') calls.push({ at: `${below}/id`, id })
    const result = { at: `${below}/tool_use_id`, id: tool_use_id }
    if (type === 'tool_result') results.push(result)
    if (type === 'tool_result' && isLate) late.push(result)
    if (type !== 'tool_result') isLate = true
  }
  return { role: fieldsOf(message)['role'], calls, results, late }
}
