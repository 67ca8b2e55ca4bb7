import { userInfo } from 'node:os'
import { pruneEvidence } from '../../../evidence/prune-evidence.ts'
import { readText } from '../../caller.ts'
import { exitCodes } from '../../exit-codes.ts'
import { readDuration } from '../../read-duration.ts'
import { showLine, writeJson } from '../../show-safely.ts'
import { UsageError } from '../../usage-error.ts'
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
    const pruned = await pruneEvidence({ store, before: at - ageMs, at, actor, ...named })
    if (given.options['json'] === true) writeJson(Object.fromEntries(pruned))
    else {
      for (const [name, count] of pruned)
        process.stdout.write(
          `${showLine(name)}: ${count} inputs and results were removed; their records stay.\n`,
        )
      if (pruned.size === 0) process.stdout.write('Nothing is that old.\n')
    }
    return exitCodes.ok
  })
}
