import type { Tool } from '../../contract/base/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { teamFields, worksWithTeams } from './fields.ts'
import { teamData, teamProperties } from './show-team.ts'

const input = {
  type: 'object',
  properties: {
    name: teamFields.team,
    members: {
      type: 'array',
      maxItems: 90,
      items: teamFields.member,
      description: 'Names of members that you will start, or agent_ids of agents that you have started.',
    },
    task_description: {
      type: 'string',
      maxLength: 20_000,
      description: 'What the team is for, for its members.',
    },
  },
  required: ['name'],
  additionalProperties: false,
} as const

/** `agent.create_team`: agents that can send each other messages. */
export function createTeamTool(): Tool {
  return defineBuiltin({
    ...worksWithTeams,
    name: 'agent.create_team',
    title: 'Make team',
    description:
      'Makes a team of agents that send each other messages with agent.send_message. You are its member "lead". Start the others with agent.create_sub_agent, team_id and name; agents at work that you have started are named by their agent_id.',
    input,
    output: {
      type: 'object',
      properties: teamProperties,
      required: ['team_id', 'name', 'members'],
      additionalProperties: false,
    },
    compatible: { name: 'TeamCreate', inputSchema: input, toCanonical: (given) => given },
    decode: ({ name, members = [], task_description }) => ({ name, members, task: task_description }),
    plan: async ({ name }) => ({
      operations: [{ kind: 'other', resource: `handrail:team:${name}` }],
      planned: null,
    }),
    async run(wanted, { teams }) {
      const team = await teams.create(wanted)
      const names = team.members.map(({ name }) => name).join(', ')
      return toolOutput({
        content: [{ type: 'text', text: `The team "${team.name}" (${team.id}) has the members ${names}.` }],
        summary: `team ${team.name}`,
        data: teamData(team),
      })
    },
  })
}
