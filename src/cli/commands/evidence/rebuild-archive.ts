import { rebuildArchive } from '../../../compose/archive/rebuild-archive.ts'
import { readText } from '../../arguments/caller.ts'
import { countOf } from '../../render/count-of.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { presentKeyNames } from '../../model/provider-keys.ts'
import { readEnvironment, wireOptions, type Places } from '../../setup/wire.ts'
import { writeJson } from '../../base/show-safely.ts'
import { tellReads } from '../../render/progress.ts'
import type { EvidenceVerb } from './verb.ts'
import { findMeant, withEvidence } from './open-evidence.ts'

/** `handrail evidence rebuild-archive` */
export const rebuild: EvidenceVerb = ({ given, places }) =>
  withEvidence(places, async ({ store }) => {
    const [tenant, text] = ['tenant', 'session'].map((name) => readText(given, name))
    const meant = findMeant(store, { what: 'session', text, tenant })
    if (meant === undefined) return exitCodes.toolError
    const session = meant.id
    const about = {
      dir: places.home,
      secrets: readSecretValues(places),
      ...(tenant !== undefined && { tenant }),
      ...(session !== undefined && { session }),
    }
    const report = await tellReads(store, 'Writing the logs again', (told) =>
      rebuildArchive({ store: told, ...about }),
    )
    if (given.options['json'] === true) writeJson(report)
    else {
      const pruned = report.pruned === 0 ? '' : ` ${report.pruned} of them were pruned and have no summaries.`
      const said = report.runs.length === 0 ? '' : `, ${countOf(report.runs.length, 'conversation')}`
      process.stdout.write(
        `Written again: ${countOf(report.calls, 'call')} of ${countOf(report.sessions.length, 'session')}${said}.${pruned}\n` +
          'Events stand in no store: an events.jsonl that is there stays as it is, one that is lost is lost.\n',
      )
    }
    return exitCodes.ok
  })

/** What stays out of every text: the secrets that the configuration names, and the keys of providers. */
function readSecretValues(places: Places): string[] {
  const keys = presentKeyNames().map((name) => readEnvironment(name) ?? '')
  return [...Object.values(wireOptions(places).secrets ?? {}), ...keys]
}
