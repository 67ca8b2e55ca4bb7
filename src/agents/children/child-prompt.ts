import type { ChildWish } from '../../contract/base/child-agents.ts'

/** What an agent is asked first. */
export function childPrompt({ task, kind, output }: ChildWish): string {
  const parts = [
    ...(kind === 'fork'
      ? ['You are a copy of the agent of this conversation, and do one part of its work.']
      : []),
    task,
    output === undefined
      ? 'Your last answer goes to the agent that started you. Say in it what you found or did.'
      : `Your last answer goes to the agent that started you. It must be JSON alone, of this schema:\n${JSON.stringify(output)}`,
  ]
  return parts.join('\n\n')
}
