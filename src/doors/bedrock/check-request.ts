import type { Issue } from '../../contract/base/json.ts'
import { checkIds, checkTools, type RequestId } from '../base/check-request.ts'
import { checkPairs, type Exchange } from '../base/check-pairs.ts'
import { fieldsOf, listOf } from '../base/message-fields.ts'
import type { RuleQuery } from '../rules/find-rules.ts'

/** What the Converse API would refuse of a request. */
export function checkBedrockRequest(request: object, query: RuleQuery): readonly Issue[] {
  const { toolConfig, messages } = fieldsOf(request)
  const tools = listOf(fieldsOf(toolConfig)['tools']).flatMap((tool, index) => {
    const { toolSpec } = fieldsOf(tool)
    if (toolSpec === undefined) return []
    const { name, description, inputSchema } = fieldsOf(toolSpec)
    const at = `/toolConfig/tools/${index}/toolSpec`
    return [
      { at, name, description, schema: fieldsOf(inputSchema)['json'], schemaAt: `${at}/inputSchema/json` },
    ]
  })
  const turns = listOf(messages).map((message, index) => readMessage(message, `/messages/${index}`))
  const exchanges = [
    { calls: [], results: turns[0]?.results ?? [] },
    ...turns.slice(1).map(({ results }, index) => ({ calls: turns[index]?.calls ?? [], results })),
  ]
  return [
    ...checkTools(tools, '/toolConfig/tools', query),
    ...checkIds(
      turns.flatMap(({ calls, results }) => [...calls, ...results]),
      query,
    ),
    ...checkPairs(exchanges, query),
  ]
}

function readMessage(message: unknown, at: string): Exchange {
  const calls: RequestId[] = []
  const results: RequestId[] = []
  for (const [place, block] of listOf(fieldsOf(message)['content']).entries()) {
    const { toolUse, toolResult } = fieldsOf(block)
    const { toolUseId: id, type } = fieldsOf(toolUse ?? toolResult)
    const below = `${at}/content/${place}`
    // Tools of the provider answer in the same message.
    if (type === 'server_tool_use' || String(type).endsWith('_result')) continue
    if (toolUse !== undefined) calls.push({ at: `${below}/toolUse/toolUseId`, id })
    if (toolResult !== undefined) results.push({ at: `${below}/toolResult/toolUseId`, id })
  }
  return { calls, results }
}
