import { suggestRules } from '../../../compose/foresight/suggest-rules.ts'
import { readText } from '../../arguments/caller.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { readDuration } from '../../arguments/read-duration.ts'
import { writeJson, writeText } from '../../base/show-safely.ts'
import { toSuggestionsPage } from '../../render/suggestions-page.ts'
import { wireSimulation } from '../../setup/wire-simulation.ts'
import { findPlaces } from '../../setup/wire.ts'
import { withEvidence } from '../evidence/open-evidence.ts'
import type { ToolsVerb } from '../tools/verb.ts'

/** `handrail policy suggest`. Nothing is written, not even the ends of interrupted calls. */
export const suggestVerb: ToolsVerb = {
  async run(given) {
    const since = readDuration(given, 'since')
    const tenant = readText(given, 'tenant')
    const places = findPlaces(given)
    const runtime = await wireSimulation(places)
    return withEvidence(
      places,
      async ({ store }) => {
        const suggestions = await suggestRules({
          store,
          runtime,
          ...(since !== undefined && { since: Date.now() - since }),
          ...(tenant !== undefined && { tenants: [tenant] }),
        })
        if (given.options['json'] === true) writeJson(suggestions)
        else writeText(process.stdout, toSuggestionsPage(suggestions))
        return exitCodes.ok
      },
      { recovers: false },
    )
  },
}
