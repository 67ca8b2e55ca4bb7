import type { ChildWish } from '../../contract/services/child-agents.ts'
import type { JoinedTeam } from '../teams/create-team-book.ts'

/** What an agent is asked first. */
export function childPrompt({ task, kind, output }: ChildWish, joined?: JoinedTeam): string {
  const parts = [
    ...(kind === 'fork'
      ? ['You are a copy of the agent of this conversation, and do one part of its work.']
      : []),
    ...(joined === undefined ? [] : [describeTeam(joined)]),
    task,
    output === undefined
      ? 'Your last answer goes to the agent that started you. Say in it what you found or did.'
      : `Your last answer goes to the agent that started you. It must be JSON alone, of this schema:\n${JSON.stringify(output)}`,
  ]
  return parts.join('\n\n')
}

function describeTeam({ name, team }: JoinedTeam): string {
  const others = team.members.filter((member) => member.name !== name).map((member) => member.name)
  return [
    `You are "${name}", a member of the team "${team.name}" with ${others.join(', ')}. agent.send_message writes to one of them, or to all; what they write to you, you see at the start of your next turn.`,
    ...(team.task === undefined ? [] : [`What the team is for: ${team.task}`]),
  ].join('\n')
}
