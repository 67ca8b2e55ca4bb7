import type { JsonObject } from '../contract/base/json.ts'
import type { ToolContext } from '../contract/tool/tool.ts'

/** What a program finds on stdin: one JSON object about its call. */
export function toCallInput(tool: string, input: JsonObject, context: ToolContext): string {
  const { principal } = context
  const { tenant, actor, role, agent } = principal
  return `${JSON.stringify({
    tool_name: tool,
    arguments: input,
    call_id: context.callId,
    tool_call_id: context.toolCallId,
    session_id: context.session,
    run_id: agent?.runId ?? null,
    agent_id: agent?.agentId ?? null,
    principal: { tenant, actor, role },
    project: context.project,
  })}\n`
}
