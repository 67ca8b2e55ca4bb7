import type { Stops, StopScope } from '../../../contract/base/stop.ts'
import type { Store } from '../../../contract/store.ts'
import { createStops } from '../../../compose/stops/create-stops.ts'
import { createRedactor } from '../../../kit/secrets/redact.ts'
import { messageOf } from '../../../kit/text/message-of.ts'
import { readText } from '../../arguments/caller.ts'
import type { CommandLine, Options } from '../../base/command.ts'
import { showSafely } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { findPlaces } from '../../setup/wire.ts'
import { withEvidence } from '../evidence/open-evidence.ts'

/** What is meant by a stop. */
export const scopeOptions: Options = {
  tool: { takes: 'PATTERN', about: 'Tools of this name, in which "*" stands for any letters.' },
  server: { takes: 'SERVER', about: 'The tools of this server of mcp.json.' },
  tenant: { takes: 'TENANT', about: 'What this tenant calls.' },
  actor: { takes: 'ACTOR', about: 'What this caller and their agents call.' },
  all: { about: 'Everything.' },
}

/** What the options mean; undefined if they name nothing. */
export function readScope(given: CommandLine): StopScope | undefined {
  const scope = Object.fromEntries(
    (['tool', 'server', 'tenant', 'actor'] as const).flatMap((option) => {
      const text = readText(given, option)
      return text === undefined ? [] : [[option === 'tool' ? 'tools' : option, text] as const]
    }),
  )
  const isNamed = Object.keys(scope).length > 0
  const isAll = given.options['all'] === true
  if (isAll && isNamed)
    throw new UsageError('--all means everything: leave it out, or --tool, --server, --tenant and --actor.')
  return isNamed || isAll ? scope : undefined
}

/** The stops of the store, whatever the policy and the other files say: an emergency waits for none of them. */
export function withStops(
  given: CommandLine,
  act: (stops: Stops, store: Store) => Promise<number>,
): Promise<number> {
  const redactor = createRedactor([])
  return withEvidence(
    findPlaces(given),
    async ({ store }) => {
      const stops = createStops({
        store,
        evidence: { tell: async (record, changes) => store.append([{ record, body: null }], changes) },
        announce: () => {},
        redact: (text) => redactor.text(text),
        logError: (cause) => process.stderr.write(`handrail: ${showSafely(messageOf(cause))}\n`),
        findTenantIssue: () => undefined,
        now: Date.now,
      })
      return act(stops.stops, store)
    },
    { makes: true },
  )
}
