import type { Issue } from '../../contract/base/json.ts'
import {
  checkIds,
  checkTools,
  queryOf,
  refusal,
  type RequestId,
  type RequestTool,
} from '../base/check-request.ts'
import { checkPairs, type Exchange } from '../base/check-pairs.ts'
import { fieldsOf, listOf } from '../base/message-fields.ts'
import { findRules, type RuleQuery } from '../rules/find-rules.ts'

/** What the Responses API would refuse of a request. */
export function checkResponsesRequest(request: object, given: RuleQuery): readonly Issue[] {
  const query = queryOf(request, given)
  const { tools, input, previous_response_id: previous, conversation } = fieldsOf(request)
  const of = (wanted: string): RequestId[] =>
    listOf(input).flatMap((item, index) => {
      const { type, call_id: id } = fieldsOf(item)
      return type === wanted ? [{ at: `/input/${index}/call_id`, id }] : []
    })
  const calls = [...of('function_call'), ...of('tool_search_call')]
  const results = [...of('function_call_output'), ...of('tool_search_output')]
  // The calls before may be kept at the provider.
  const isWhole = previous === undefined && conversation === undefined
  const own = listOf(tools).flatMap((tool, index) =>
    fieldsOf(tool)['type'] === 'function' ? [toTool(tool, `/tools/${index}`)] : [],
  )
  return [
    ...checkTools(own, '/tools', query),
    ...checkIds([...calls, ...results], query),
    ...(isWhole ? checkPairs([{ calls, results }], query) : []),
  ]
}

/** What Chat Completions would refuse of a request. */
export function checkChatRequest(request: object, given: RuleQuery): readonly Issue[] {
  const query = queryOf(request, given)
  const { tools, messages } = fieldsOf(request)
  const own = listOf(tools).flatMap((tool, index) => {
    const { function: called } = fieldsOf(tool)
    return called === undefined ? [] : [toTool(called, `/tools/${index}/function`)]
  })
  return [
    ...checkTools(own, '/tools', query),
    ...listOf(messages).flatMap((message, index) => checkMessage(message, `/messages/${index}`, query)),
    ...checkPairs(toExchanges(listOf(messages)), query),
  ]
}

/** Each answer with the messages of tools right behind it. An answer at the end has none yet. */
function toExchanges(messages: readonly unknown[]): Exchange[] {
  const exchanges: { calls: RequestId[]; results: RequestId[] }[] = [{ calls: [], results: [] }]
  for (const [index, message] of messages.entries()) {
    const { role, tool_calls: calls, tool_call_id: id } = fieldsOf(message)
    if (role === 'tool') exchanges.at(-1)?.results.push({ at: `/messages/${index}/tool_call_id`, id })
    else if (index < messages.length - 1)
      exchanges.push({ calls: toIds(calls, `/messages/${index}`), results: [] })
  }
  return exchanges
}

function toIds(calls: unknown, at: string): RequestId[] {
  return listOf(calls).map((call, index) => ({
    at: `${at}/tool_calls/${index}/id`,
    id: fieldsOf(call)['id'],
  }))
}

function toTool(given: unknown, at: string): RequestTool {
  const { name, description, parameters: schema, strict } = fieldsOf(given)
  return { at, name, description, schema, schemaAt: `${at}/parameters`, strict: strict === true }
}

function checkMessage(message: unknown, at: string, query: RuleQuery): Issue[] {
  const { role, tool_calls: calls, tool_call_id: id, content } = fieldsOf(message)
  const rules = findRules(query)
  const most = rules.find('call-count')?.max ?? Infinity
  const types = rules.find('result-content')?.types
  const ids = toIds(calls, at)
  if (role === 'tool') ids.push({ at: `${at}/tool_call_id`, id })
  const count = listOf(calls).length
  const strange =
    role === 'tool' && types !== undefined
      ? [...listOf(content).entries()].filter(([, part]) => !types.includes(String(fieldsOf(part)['type'])))
      : []
  return [
    ...checkIds(ids, query),
    ...(count > most ? [refusal(`${at}/tool_calls`, `There are ${count} calls; ${most} are taken.`)] : []),
    ...strange.map(([index]) =>
      refusal(`${at}/content/${index}`, `The result of a tool holds only ${types?.join(' or ')}.`),
    ),
  ]
}
