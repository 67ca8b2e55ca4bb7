import { userInfo } from 'node:os'
import { join } from 'node:path'
import { pruneEvidence, type PruneReport } from '../../../compose/archive/prune-evidence.ts'
import { createDiskArtifacts } from '../../../stores/artifacts/create-disk-artifacts.ts'
import { readText } from '../../arguments/caller.ts'
import { countOf } from '../../render/count-of.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { readDuration } from '../../arguments/read-duration.ts'
import { showLine, writeJson } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import type { EvidenceVerb } from './verb.ts'
import { findTenants, withEvidence } from './open-evidence.ts'

/** `handrail evidence prune` */
export const prune: EvidenceVerb = async ({ given, places }) => {
  const ageMs = readDuration(given, 'older-than')
  if (ageMs === undefined) throw new UsageError('Say from which age on: --older-than 30d.')
  const tenant = readText(given, 'tenant')
  return withEvidence(places, async ({ store }) => {
    if (findTenants(store, tenant) === undefined) return exitCodes.toolError
    const at = Date.now()
    const actor = userInfo().username
    const named = tenant !== undefined && { tenant }
    const report = await pruneEvidence({
      store,
      before: at - ageMs,
      at,
      actor,
      artifacts: createDiskArtifacts({ dir: join(places.home, 'artifacts') }),
      archive: { dir: places.home },
      ...named,
    })
    if (given.options['json'] === true) writeJson({ ...report, bodies: Object.fromEntries(report.bodies) })
    else process.stdout.write(describe(report))
    return exitCodes.ok
  })
}

function describe({ bodies, artifacts, conversations, runs }: PruneReport): string {
  const lines = [...bodies].map(
    ([tenant, count]) => `${showLine(tenant)}: ${count} inputs and results were removed; their records stay.`,
  )
  if (conversations > 0)
    lines.push(
      `${countOf(conversations, 'conversation')} of runs went as a whole; that there were these runs stays.`,
    )
  if (artifacts > 0) lines.push(`${artifacts} artifacts that nothing else names were removed.`)
  if (runs > 0) lines.push(`${runs} folders of old runs were removed.`)
  return `${lines.length === 0 ? 'Nothing is that old.' : lines.join('\n')}\n`
}
