import type { RegisteredAgentDefinition } from '../../contract/base/agent-definition.ts'
import type { ChildWish } from '../../contract/base/child-agents.ts'
import type { Session } from '../../contract/runtime.ts'

/**
 * The tools that an agent asks for: those that its call names, or those that its definition suggests with the reading ones that every agent has. Undefined
 * for the default of its role. What its parent may not use it has not, whatever it asks for.
 */
export function childTools(
  { allowedTools, kind }: Pick<ChildWish, 'allowedTools' | 'kind'>,
  { definition, parent }: { definition: RegisteredAgentDefinition | undefined; parent: Session },
): readonly string[] | undefined {
  if (allowedTools !== undefined) return allowedTools
  if (definition?.tools === undefined) return undefined
  const reading = parent
    .tools({ shared: true })
    .filter(({ tool, annotations }) => tool.startsWith('code.') && annotations?.readOnlyHint === true)
    .map(({ tool }) => tool)
  return [...definition.tools, ...(kind === 'worker' ? workerTools : []), ...reading]
}

/** What a worker needs for a step of its own. */
const workerTools = [
  'agent.task_get',
  'agent.task_query_steps',
  'agent.task_claim_step',
  'agent.task_update_step',
]
