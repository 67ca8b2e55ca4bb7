import { importEvidence } from '../../../evidence/import-evidence.ts'
import { fromKeyText } from '../../../evidence/signing-key.ts'
import { readText } from '../../caller.ts'
import { exitCodes } from '../../exit-codes.ts'
import { showSafely } from '../../show-safely.ts'
import { UsageError } from '../../usage-error.ts'
import type { EvidenceVerb } from './verb.ts'
import { withEvidence } from './open-evidence.ts'
import { readLines } from './read-lines.ts'
import { describeFault } from './verify.ts'

/** `handrail evidence import` */
export const importVerb: EvidenceVerb = async ({ given, places, what: file }) => {
  if (readText(given, 'tenant') !== undefined)
    throw new UsageError('An export is imported as a whole; choose tenants when it is made.')
  return withEvidence(
    places,
    async ({ store, keys }) => {
      const { header, ...found } = await importEvidence({ store, open: () => readLines(file) })
      const known = keys.publicKeys()
      const foreign = (header?.keys ?? []).filter(({ id }) => !known.has(id))
      if (found.ok) for (const { publicKey } of foreign) keys.trust(fromKeyText(publicKey))
      if (given.options['json'] === true) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`)
      else if (found.fault !== undefined)
        process.stdout.write(`Nothing was imported. ${showSafely(describeFault(found.fault))}`)
      else
        process.stdout.write(
          `${found.imported} records were imported, ${found.known} were here already.\n${foreign.map(({ id }) => `The key ${id} is trusted from now on.\n`).join('')}`,
        )
      return found.ok ? exitCodes.ok : exitCodes.toolError
    },
    { makes: true },
  )
}
