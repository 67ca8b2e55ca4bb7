import { explainCall } from '../../../compose/replay/explain-call.ts'
import { readText } from '../../arguments/caller.ts'
import type { CommandLine } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { toPastCallPage } from '../../render/past-call-page.ts'
import { writeJson } from '../../base/show-safely.ts'
import { wireSimulation } from '../../setup/wire-simulation.ts'
import { findPlaces } from '../../setup/wire.ts'
import { findMeant, withEvidence } from '../evidence/open-evidence.ts'

/** `handrail explain --call`. Nothing is written, not even the ends of interrupted calls. */
export function explainPastCall(given: CommandLine, call: string): Promise<number> {
  const places = findPlaces(given)
  const tenant = readText(given, 'tenant')
  return withEvidence(
    places,
    async ({ store }) => {
      const meant = findMeant(store, { what: 'call', text: call, tenant })
      if (meant === undefined) return exitCodes.toolError
      const found = await explainCall({
        store,
        call: meant.id,
        runtime: await wireSimulation(places),
        ...(tenant !== undefined && { tenant }),
      })
      if (found === undefined) {
        process.stderr.write(
          `handrail: the call ${meant.id} has no begin, so nothing says why it was decided.\n`,
        )
        return exitCodes.toolError
      }
      if (given.options['json'] === true) writeJson(found)
      else process.stdout.write(toPastCallPage(found))
      return exitCodes.ok
    },
    { recovers: false },
  )
}
