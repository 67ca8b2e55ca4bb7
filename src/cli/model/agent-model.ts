import { loadPrices, priceOf } from '../../config/prices.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { readText } from '../arguments/caller.ts'
import type { CommandLine } from '../base/command.ts'
import { UsageError } from '../base/usage-error.ts'
import { readBaseUrl } from '../arguments/read-base-url.ts'
import type { AgentModelChoice } from '../setup/wire.ts'
import { loadModel } from './load-model.ts'
import { readModelName } from './read-model-name.ts'

/** Options of commands that may start agents. */
export const agentModelOptions = {
  model: { takes: 'NAME', about: 'With what agents work that calls and schedules start: provider/name.' },
  'base-url': { takes: 'URL', about: 'With --model: where the provider answers.' },
  'trust-project': {
    about: 'With --model: takes its package from the project too. Its code runs with your rights.',
  },
} as const

/** The model that agents work with; undefined if the command line names none. */
export async function loadAgentModel(
  given: CommandLine,
  { project, prices }: { readonly project: string; readonly prices: string },
): Promise<AgentModelChoice | undefined> {
  const name = readText(given, 'model')
  const baseUrl = readBaseUrl(readText(given, 'base-url'))
  const trustsProject = given.options['trust-project'] === true
  if (name === undefined) {
    if (baseUrl !== undefined || trustsProject)
      throw new UsageError('--base-url and --trust-project go with --model.')
    return undefined
  }
  const price = priceOf(loadPrices(prices, createSchemaChecker()), name)
  const { model } = await loadModel(readModelName(name), { project, trustsProject, baseUrl })
  return { model, ...(price !== undefined && { price }) }
}
