import { userInfo } from 'node:os'
import { rotateKey } from '../../../evidence/chain/rotate-key.ts'
import { readText } from '../../arguments/caller.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { UsageError } from '../../base/usage-error.ts'
import type { EvidenceVerb } from './verb.ts'
import { withEvidence } from './open-evidence.ts'
import { writeJson } from '../../base/show-safely.ts'

/** `handrail evidence rotate-key` */
export const rotate: EvidenceVerb = async ({ given, places }) => {
  if (readText(given, 'tenant') !== undefined)
    throw new UsageError('One key signs for all tenants: leave out --tenant.')
  return withEvidence(places, async ({ store, keys }) => {
    const rotated = await rotateKey({ store, keys, at: Date.now(), actor: userInfo().username })
    if (given.options['json'] === true) writeJson(rotated)
    else
      process.stdout.write(
        `${rotated.new} signs from now on. ${rotated.old} signs no more; what it signed stays good.\n`,
      )
    return exitCodes.ok
  })
}
