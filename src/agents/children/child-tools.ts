import type { RegisteredAgentDefinition } from '../../contract/services/agent-definition.ts'
import type { ChildWish } from '../../contract/services/child-agents.ts'
import type { Session } from '../../contract/runtime.ts'

/**
 * The tools that an agent asks for: those that its call names, or those that its definition suggests with the reading ones that every agent has. A worker
 * has its own in any case, and a member of a team sends messages, unless its call names other tools. Undefined for the default of its role. What its parent
 * may not use it has not, whatever it asks for.
 */
export function childTools(
  { allowedTools, kind, team }: Pick<ChildWish, 'allowedTools' | 'kind' | 'team'>,
  { definition, parent }: { definition: RegisteredAgentDefinition | undefined; parent: Session },
): readonly string[] | undefined {
  const isWorker = kind === 'worker'
  if (allowedTools !== undefined && !isWorker) return allowedTools
  const suggested = allowedTools ?? definition?.tools
  const own = [...(isWorker ? workerTools : []), ...(team === undefined ? [] : memberTools)]
  if (suggested === undefined && team === undefined) return undefined
  const reading = parent
    .tools({ shared: true, all: true })
    .filter(({ tool, annotations }) => tool.startsWith('code.') && annotations?.readOnlyHint === true)
    .map(({ tool }) => tool)
  return [...(suggested ?? []), ...own, ...reading]
}

/** What a worker needs for a step of its own. */
const workerTools = [
  'agent.task_get',
  'agent.task_query_steps',
  'agent.task_claim_step',
  'agent.task_update_step',
]

/** What a member of a team needs to write to the others. */
const memberTools = ['agent.send_message']
