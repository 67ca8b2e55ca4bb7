import type { AgentModel } from '../../contract/agent-run.ts'
import type { RegisteredAgentDefinition } from '../../contract/base/agent-definition.ts'
import type { ChildWish } from '../../contract/base/child-agents.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Session } from '../../contract/runtime.ts'
import type { OpenRun } from '../loop/run-state.ts'
import type { ChildPorts } from './child-ports.ts'

/** The definition that an agent is to be of; undefined for none. */
export async function findDefinition(
  { definition: id }: Pick<ChildWish, 'definition'>,
  session: Session,
  { definitions, projectOf }: ChildPorts,
): Promise<RegisteredAgentDefinition | undefined> {
  if (id === undefined) return undefined
  const project = projectOf(session)
  const found = await definitions?.find(id, project)
  if (found?.isolation === 'worktree') throw noWorktree(id)
  if (found !== undefined) return found
  const ids = ((await definitions?.list(project))?.definitions ?? []).map((each) => `"${each.id}"`)
  throw new ToolFailure({
    reason: 'unknown_definition',
    message: `There is no agent definition "${id}". ${ids.length === 0 ? 'There are none: leave it out.' : `There are ${ids.join(', ')}.`}`,
    data: { definition: id },
  })
}

function noWorktree(id: string): ToolFailure {
  return new ToolFailure({
    reason: 'no_isolation',
    message: `The definition "${id}" wants a git worktree for its agent, and an agent cannot be held to one here. Start one without that definition, and have it use code.enter_worktree.`,
    data: { definition: id },
  })
}

/** The model that an agent works with. */
export function findModel(
  wish: ChildWish,
  about: {
    definition: RegisteredAgentDefinition | undefined
    parentRun: OpenRun | undefined
    ports: ChildPorts
  },
): AgentModel {
  const { definition, parentRun, ports } = about
  const { model: name } = wish
  // What a definition names is what its author meant it for, in words of another program perhaps.
  const meant = definition?.model === undefined ? undefined : ports.findModel(definition.model)
  const usual = meant ?? parentRun?.model ?? ports.findModel(undefined)
  const found = name === undefined ? usual : ports.findModel(name)
  if (found !== undefined) return found
  throw new ToolFailure({
    reason: 'no_model',
    message:
      name === undefined
        ? 'No model is configured that an agent could work with. The operator sets one with "agents.model".'
        : `The model "${name}" is not known here. Leave it out, or let the operator add it to "agents.models".`,
    data: name === undefined ? {} : { model: name },
  })
}
