import type { ChildReport } from '../../contract/base/child-agents.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { ToolOutput } from '../../contract/base/result.ts'
import { markUntrusted } from '../../kit/text/mark-untrusted.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'

/** The form of a report as data. */
export const reportSchema = {
  type: 'object',
  properties: {
    agent_id: { type: 'string' },
    agent_definition_id: { type: 'string' },
    status: { enum: ['running', 'ended'] },
    end_reason: { type: 'string', description: 'Why it ended: completed, max_turns, aborted, failed, …' },
    text: { type: 'string', description: 'Its last text.' },
    output: { description: 'Its last answer as JSON, if that was asked for.' },
    turns: { type: 'integer' },
    input_tokens: { type: 'integer' },
    output_tokens: { type: 'integer' },
    worktree: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Relative to the project.' },
        branch: { type: ['string', 'null'] },
      },
      required: ['path', 'branch'],
      additionalProperties: false,
      description:
        'Where it works, or where its changes are since it ended. Absent if it has none, or changed nothing.',
    },
  },
  required: ['agent_id', 'status', 'text', 'turns', 'input_tokens', 'output_tokens'],
  additionalProperties: false,
} as const

/** A report as the result of a call, with a note to its end. Throws for an agent that waits for a person, and for one that ended before its task did. */
export function showEnd(report: ChildReport, note = ''): ToolOutput {
  const { agent, state, endReason, waiting } = report
  if (waiting !== undefined)
    throw new ToolFailure({
      code: 'POLICY.APPROVAL_PENDING',
      reason: 'waiting',
      message: `A call of the agent "${agent}" waits for a person. It goes on when they have answered.`,
      data: { approval: waiting, agent },
    })
  if (state === 'running' || endReason === 'completed') return showReport(report, note)
  throw new ToolFailure({
    reason: 'agent_unfinished',
    message: `${describeEnd(report)}${describeWorktree(report)}${note}${report.text === '' ? '' : ` So far it said: ${report.text.slice(0, 4_000)}`}`,
    data: {
      agent,
      end_reason: endReason ?? 'cut_off',
      ...(report.worktree !== undefined && { worktree: { ...report.worktree } }),
    },
  })
}

/** A report as it is, whatever it says. */
export function showReport(report: ChildReport, note = ''): ToolOutput {
  const { agent, state, text, turns } = report
  const said = text === '' ? 'It said nothing.' : markUntrusted(text, `agent ${agent}`, 'another agent')
  return toolOutput({
    content:
      state === 'running'
        ? `The agent "${agent}" is at work. It is a job of this id: job.output waits for it, and tells what it says. agent.inspect_agent tells how it ended.`
        : `${describeEnd(report)}${describeWorktree(report)}${note}\n${said}`,
    summary: `agent ${agent}: ${state === 'running' ? 'running' : (report.endReason ?? 'cut off')} after ${turns} turns`,
    data: toData(report),
  })
}

function describeEnd({ agent, endReason, error, turns }: ChildReport): string {
  const why = error === undefined ? '' : `: ${error.message}`
  return `The agent "${agent}" ended after ${turns} turns (${endReason ?? 'its process was ended'})${why}.`
}

function describeWorktree({ state, worktree }: ChildReport): string {
  if (worktree === undefined || state === 'running') return ''
  const { path, branch } = worktree
  return ` Its changes are in the worktree ${path}${branch === null ? '' : `, on the branch ${branch}`}: look at them there, merge what you want, and end the worktree with code.exit_worktree.`
}

function toData(report: ChildReport): JsonObject {
  const { agent, definition, state, endReason, text, output, turns, usage, worktree } = report
  return {
    agent_id: agent,
    ...(definition !== undefined && { agent_definition_id: definition }),
    status: state,
    ...(endReason !== undefined && { end_reason: endReason }),
    text,
    ...(output !== undefined && { output }),
    turns,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    ...(worktree !== undefined && { worktree: { ...worktree } }),
  }
}
