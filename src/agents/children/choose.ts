import type { RegisteredAgentDefinition } from '../../contract/services/agent-definition.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Session } from '../../contract/runtime.ts'
import type { OpenRun } from '../loop/run-state.ts'
import type { ChildPorts, PricedModel } from './child-ports.ts'

/** The definition of this id in the project of the session. Fails with `unknown_definition`. */
export async function findDefinition(
  id: string | undefined,
  session: Session,
  { definitions, projectOf }: ChildPorts,
): Promise<RegisteredAgentDefinition | undefined> {
  if (id === undefined) return undefined
  const project = projectOf(session)
  const found = await definitions?.find(id, project)
  if (found !== undefined) return found
  const ids = ((await definitions?.list(project))?.definitions ?? []).map((each) => `"${each.id}"`)
  throw new ToolFailure({
    reason: 'unknown_definition',
    message: `There is no agent definition "${id}". ${ids.length === 0 ? 'There are none: leave it out.' : `There are ${ids.join(', ')}.`}`,
    data: { definition: id },
  })
}

/** The model of this name; without one that of the definition, or else of the agent that makes the call. Fails with `no_model`. */
export function findModel(
  name: string | undefined,
  about: {
    definition: RegisteredAgentDefinition | undefined
    parentRun: OpenRun | undefined
    ports: ChildPorts
  },
): PricedModel {
  const { definition, parentRun, ports } = about
  // What a definition names is what its author meant it for, in words of another program perhaps.
  const meant = definition?.model === undefined ? undefined : ports.findModel(definition.model)
  const own = parentRun && { model: parentRun.model, price: parentRun.kept.settings.price }
  const usual = meant ?? own ?? ports.findModel(undefined)
  const found = name === undefined ? usual : ports.findModel(name)
  // The price of one model says nothing about another one.
  if (found !== undefined) return found.model === own?.model ? { price: own.price, ...found } : found
  throw new ToolFailure({
    reason: 'no_model',
    message:
      name === undefined
        ? 'No model is configured that an agent could work with. The operator sets one with "--model" at the command line, or "agents.model" in a program.'
        : `The model "${name}" is not known here. Leave it out, or let the operator add it to "agents.models".`,
    data: name === undefined ? {} : { model: name },
  })
}
