import { join } from 'node:path'
import { loadConfiguration } from '../../config/load-configuration.ts'
import { a2aAgents, type A2aAgents } from '../../compose/a2a/a2a-agents.ts'
import type { Configuration } from '../../contract/configuration.ts'
import { secretNames } from '../../kit/secrets/secret-names.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'

/** Where the configuration is. */
type Home = Parameters<typeof loadConfiguration>[0]

/** The agents of other domains that a configuration names. */
export function openDomains(
  places: Pick<Home, 'home'>,
  { a2a, meet }: { readonly a2a: Configuration['a2a']; readonly meet: boolean },
): readonly A2aAgents[] {
  return a2a === undefined ? [] : [a2aAgents({ ...a2a, keys: { path: callKeysPath(places) }, meet })]
}

/** Those that the person configured, for what has not read the configuration; none of them is met. */
export function readDomains(places: Home): readonly A2aAgents[] {
  const { a2a } = loadConfiguration(places, createSchemaChecker()).configuration
  return openDomains(places, { a2a, meet: false })
}

/** Where the keys are that sign calls to other domains. */
export function callKeysPath({ home }: Pick<Home, 'home'>): string {
  return join(home, 'a2a-keys.json')
}

/** The secrets that headers for agents of other domains stand on. */
export function domainSecrets(a2a: Configuration['a2a']): string[] {
  return Object.values(a2a?.agents ?? {}).flatMap(({ headers = {} }) =>
    Object.values(headers).flatMap(secretNames),
  )
}
