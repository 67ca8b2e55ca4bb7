import { knownLanguageServers, type Configuration } from '../contract/configuration.ts'
import type { Issue } from '../contract/base/json.ts'

/** What a schema cannot say of language servers that fit it: one that is not known has to be described as a whole. */
export function checkLanguageServers(servers: Configuration['languageServers']): Issue[] {
  return Object.entries(servers ?? {}).flatMap(([name, server]) =>
    knownLanguageServers.some((known) => known === name) || server.enabled === false
      ? []
      : (['command', 'extensions'] as const)
          .filter((field) => server[field] === undefined)
          .map((field) => ({
            pointer: `/languageServers/${name}/${field}`,
            code: 'missing',
            message: `"${name}" is none of the known servers (${knownLanguageServers.join(', ')}); give its ${field}.`,
          })),
  )
}
