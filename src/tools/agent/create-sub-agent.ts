import type { CompatiblePresentation, Tool } from '../../contract/tool/tool.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import type { TeamPlace } from '../../contract/services/teams.ts'
import { invalidInput } from '../code/base/invalid-input.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { agentFields, startsAgents } from './fields.ts'
import { teamFields } from '../team/fields.ts'
import { reportSchema, showEnd } from './show-report.ts'

/** `agent.create_sub_agent`: an agent with a task and a session of its own. */
export function createSubAgentTool(): Tool {
  return defineBuiltin({
    ...startsAgents,
    name: 'agent.create_sub_agent',
    title: 'Start agent',
    description:
      'Starts an agent that does a task of its own, with fresh context, and returns what it says at its end. It may do what you may, or less. Several that are started in one answer work beside each other. With background it returns at once: it is a job then, and job.output tells what it says. With isolation "worktree" what it changes stays apart, and a worktree with changes is named at its end.',
    needs: ['agents'],
    input,
    output: reportSchema,
    compatible,
    decode: (given) => ({
      kind: 'sub' as const,
      resume: toResumed(given),
      task: [
        given.task,
        ...(given.context === undefined ? [] : [`What you have to know:\n${given.context}`]),
        ...(given.constraints === undefined ? [] : [`What holds for it:\n${given.constraints}`]),
      ].join('\n\n'),
      definition: given.agent_definition_id,
      allowedTools: given.allowed_tools,
      output: given.expected_output_schema as JsonSchema | undefined,
      timeoutMs: given.timeout_ms,
      maxTurns: given.max_turns,
      model: given.model,
      background: given.background,
      isolation: given.isolation,
      mode: given.mode,
      team: toPlace(given.team_id, given.name),
    }),
    plan: async ({ definition }) => ({
      operations: [{ kind: 'other', resource: `handrail:agent:${definition ?? 'sub'}` }],
      planned: null,
    }),
    run: async (wish, { agents }) => showEnd(await agents.start(wish)),
  })
}

/** What an agent was when it started, it stays. */
const ofNewAgents = ['allowed_tools', 'expected_output_schema', 'isolation', 'mode'] as const

function toResumed(
  given: { readonly resume?: string } & { readonly [field in (typeof ofNewAgents)[number]]?: unknown },
): string | undefined {
  const fixed = given.resume === undefined ? [] : ofNewAgents.filter((field) => given[field] !== undefined)
  if (fixed.length === 0) return given.resume
  throw invalidInput(
    `An agent that goes on stays what it was, so "resume" does not go with ${fixed.map((field) => `"${field}"`).join(', ')}. Leave that out, or start a new agent.`,
  )
}

function toPlace(team: string | undefined, name: string | undefined): TeamPlace | undefined {
  if (team !== undefined) return { team, name }
  if (name === undefined) return undefined
  throw invalidInput('"name" is a name in a team. Say with "team_id" which one, or leave it out.')
}

const input = {
  type: 'object',
  properties: {
    task: agentFields.task,
    agent_definition_id: {
      type: 'string',
      minLength: 1,
      maxLength: 100,
      description: 'The kind of agent, by the id that agent.list_agent_definitions shows. Default: none.',
    },
    context: { type: 'string', maxLength: 100_000, description: 'What it has to know beside its task.' },
    constraints: {
      type: 'string',
      maxLength: 100_000,
      description: 'What it must not do, and when it is done.',
    },
    allowed_tools: agentFields.allowedTools,
    expected_output_schema: {
      type: 'object',
      description: 'A JSON Schema: its last answer has to be JSON of it, and comes back as output.',
    },
    timeout_ms: agentFields.timeoutMs,
    max_turns: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000,
      description: 'Answers of its model at most.',
    },
    model: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description: 'Another model, by a name that the operator gave.',
    },
    background: { type: 'boolean', default: false },
    isolation: {
      type: 'string',
      enum: ['none', 'worktree'],
      description:
        'worktree: it works in a git worktree of its own, made from the last commit, and writes nothing else. Default: as its definition says, else none.',
    },
    mode: { type: 'string', enum: ['plan'], description: 'plan: it only reads. Default: your mode.' },
    resume: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description:
        'agent_id of an agent of yours that has ended: it goes on with all that it saw, and task is what it is told next. It stays what it was.',
    },
    team_id: { ...teamFields.team, description: 'A team of yours that it joins, by id or name.' },
    name: { ...teamFields.member, description: 'Its name in the team. Default: its agent_id.' },
  },
  required: ['task'],
  additionalProperties: false,
} as const

const compatible: CompatiblePresentation = {
  name: 'Agent',
  description:
    'Starts an agent that does a task of its own, with fresh context, and returns what it says at its end. Several that are started in one answer work beside each other.',
  inputSchema: {
    type: 'object',
    properties: {
      description: { type: 'string', description: 'The task in three to five words.' },
      prompt: agentFields.task,
      subagent_type: { type: 'string', description: 'The kind of agent.' },
      model: { type: 'string', description: 'Another model.' },
      name: { type: 'string', description: 'What to call it.' },
      team_name: { type: 'string', description: 'A team that it joins.' },
      max_turns: { type: 'integer', minimum: 1, maximum: 1_000 },
      run_in_background: { type: 'boolean' },
      isolation: { type: 'string', enum: ['worktree'], description: 'A git worktree of its own.' },
      mode: { type: 'string', description: 'plan: it only reads. No other mode is wider than yours.' },
      resume: {
        type: 'string',
        description: 'Id of an agent of yours that has ended: it goes on with all that it saw.',
      },
    },
    required: ['description', 'prompt'],
    additionalProperties: false,
  },
  toCanonical: ({
    prompt,
    subagent_type,
    model,
    max_turns,
    run_in_background,
    isolation,
    mode,
    resume,
    name,
    team_name,
  }) => ({
    task: prompt ?? '',
    ...(subagent_type !== undefined && { agent_definition_id: subagent_type }),
    ...(model !== undefined && { model }),
    ...(max_turns !== undefined && { max_turns }),
    ...(run_in_background !== undefined && { background: run_in_background }),
    ...(isolation !== undefined && { isolation }),
    // Every other mode that models know could only widen, which no call does.
    ...(mode === 'plan' && { mode }),
    ...(resume !== undefined && { resume }),
    // A name alone calls nothing, as only members of a team are called.
    ...(team_name !== undefined && { team_id: team_name, ...(name !== undefined && { name }) }),
  }),
}
