import type { Tool } from '../../contract/base/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { teamFields, worksWithTeams } from './fields.ts'
import { teamData, teamProperties } from './show-team.ts'

const input = {
  type: 'object',
  properties: { id: { ...teamFields.team, description: 'Id or name of the team.' } },
  required: ['id'],
  additionalProperties: false,
} as const

/** `agent.delete_team`: no more messages in a team. */
export function deleteTeamTool(): Tool {
  return defineBuiltin({
    ...worksWithTeams,
    name: 'agent.delete_team',
    title: 'Delete team',
    description:
      'Deletes a team that you made: it takes no more messages. Those that were sent are still read, and agents at work go on.',
    input,
    output: {
      type: 'object',
      properties: {
        ...teamProperties,
        unread: { type: 'integer', description: 'Messages that members at work have yet to read.' },
      },
      required: ['team_id', 'name', 'members', 'unread'],
      additionalProperties: false,
    },
    compatible: { name: 'TeamDelete', inputSchema: input, toCanonical: (given) => given },
    decode: ({ id }) => id,
    plan: async (id) => ({ operations: [{ kind: 'other', resource: `handrail:team:${id}` }], planned: null }),
    async run(id, { teams }) {
      const { team, unread } = await teams.delete(id)
      const present = team.members.filter(({ name, state }) => state === 'present' && name !== 'lead')
      const rest =
        present.length === 0 ? '' : ` Still at work: ${present.map(({ name }) => name).join(', ')}.`
      return toolOutput({
        content: [{ type: 'text', text: `The team "${team.name}" is deleted.${rest}` }],
        summary: `team ${team.name} deleted`,
        data: { ...teamData(team), unread },
      })
    },
  })
}
