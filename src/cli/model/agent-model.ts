import type { AgentModel, ModelPrice } from '../../contract/agent-run.ts'
import { SetupError } from '../../contract/base/errors.ts'
import { loadPrices, priceOf } from '../../config/prices.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { readText } from '../arguments/caller.ts'
import type { CommandLine } from '../base/command.ts'
import { UsageError } from '../base/usage-error.ts'
import { readBaseUrl } from '../arguments/read-base-url.ts'
import type { AgentModelChoice, LoadNamedModels, Places } from '../setup/wire.ts'
import { loadModel, type LoadedModel, type ModelPlace } from './load-model.ts'
import { readModelName } from './read-model-name.ts'

/** Options of commands that may start agents. */
export const agentModelOptions = {
  model: { takes: 'NAME', about: 'With what agents work that calls and schedules start: provider/name.' },
  'base-url': { takes: 'URL', about: 'With --model: where the provider answers.' },
  'trust-project': {
    about: 'Takes the packages of models from the project too. Their code runs with your rights.',
  },
} as const

/** The model that agents work with; undefined if the command line names none. */
export async function loadAgentModel(
  given: CommandLine,
  { project, prices }: Pick<Places, 'project' | 'prices'>,
): Promise<AgentModelChoice | undefined> {
  const name = readText(given, 'model')
  const baseUrl = readBaseUrl(readText(given, 'base-url'))
  if (name === undefined) {
    if (baseUrl !== undefined) throw new UsageError('--base-url goes with --model.')
    return undefined
  }
  const price = priceOf(loadPrices(prices, createSchemaChecker()), name)
  const { model } = await loadModel(readModelName(name), {
    project,
    trustsProject: given.options['trust-project'] === true,
    baseUrl,
  })
  return { model, ...(price !== undefined && { price }) }
}

/** What loads the models of the configuration that calls may name. It throws a SetupError for one that cannot be used. */
export function namedModels({ options }: CommandLine, { project, prices }: Places): LoadNamedModels {
  const trustsProject = options['trust-project'] === true
  return async (configured) => {
    const models: [string, AgentModel][] = []
    const costs: [string, ModelPrice][] = []
    const known = loadPrices(prices, createSchemaChecker())
    for (const [name, given] of Object.entries(configured)) {
      const { model, baseUrl } = typeof given === 'string' ? { model: given, baseUrl: undefined } : given
      const place = { project, trustsProject, baseUrl }
      models.push([name, (await loadNamed(name, model, place)).model])
      const price = priceOf(known, model)
      if (price !== undefined) costs.push([name, price])
    }
    return { models: Object.fromEntries(models), prices: Object.fromEntries(costs) }
  }
}

async function loadNamed(name: string, model: string, place: ModelPlace): Promise<LoadedModel> {
  try {
    return await loadModel(readModelName(model), place)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    throw new SetupError(error.code, `"${name}" of "agents.models": ${error.message}`)
  }
}
