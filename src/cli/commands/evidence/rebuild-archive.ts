import { rebuildArchive } from '../../../evidence/rebuild-archive.ts'
import { readText } from '../../caller.ts'
import { exitCodes } from '../../exit-codes.ts'
import { showLine, writeJson } from '../../show-safely.ts'
import type { EvidenceVerb } from './verb.ts'
import { findTenants, withEvidence } from './open-evidence.ts'

/** `handrail evidence rebuild-archive` */
export const rebuild: EvidenceVerb = ({ given, places }) =>
  withEvidence(places, async ({ store }) => {
    const [tenant, session] = ['tenant', 'session'].map((name) => readText(given, name))
    if (findTenants(store, tenant) === undefined) return exitCodes.toolError
    const report = await rebuildArchive({
      store,
      dir: places.home,
      ...(tenant !== undefined && { tenant }),
      ...(session !== undefined && { session }),
    })
    if (report.calls === 0 && session !== undefined) {
      process.stderr.write(`handrail: the store has no session "${showLine(session.slice(0, 100))}".\n`)
      return exitCodes.toolError
    }
    if (given.options['json'] === true) writeJson(report)
    else {
      const pruned = report.pruned === 0 ? '' : ` ${report.pruned} of them were pruned and have no summaries.`
      process.stdout.write(
        `${report.calls} calls of ${report.sessions.length} sessions are written again.${pruned}\n` +
          'Events stand in no store: an events.jsonl that is there stays as it is, one that is lost is lost.\n',
      )
    }
    return exitCodes.ok
  })
