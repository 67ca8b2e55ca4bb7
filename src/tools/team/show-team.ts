import type { JsonObject } from '../../contract/base/json.ts'
import type { Team } from '../../contract/base/teams.ts'

const text = { type: 'string' } as const

/** The form of a team as data. */
export const teamProperties = {
  team_id: text,
  name: text,
  task_description: text,
  members: {
    type: 'array',
    items: {
      type: 'object',
      properties: { name: text, agent_id: text, status: { enum: ['expected', 'present', 'ended'] } },
      required: ['name', 'status'],
      additionalProperties: false,
    },
  },
} as const

/** A team as data. */
export function teamData({ id, name, task, members }: Team): JsonObject {
  return {
    team_id: id,
    name,
    ...(task !== undefined && { task_description: task }),
    members: members.map(({ name: member, agent, state }) => ({
      name: member,
      ...(agent !== undefined && { agent_id: agent }),
      status: state,
    })),
  }
}
