import { importEvidence, type ImportReport } from '../../../evidence/export/import-evidence.ts'
import { readText } from '../../arguments/caller.ts'
import type { CommandLine } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showJson, showSafely } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import type { EvidenceVerb } from './verb.ts'
import { withEvidence } from './open-evidence.ts'
import { readLines } from './read-lines.ts'
import { describeIssue } from './verify.ts'

/** `handrail evidence import`. What is imported is not signed here: the next import of the same chain must find it as it was. */
export const importVerb: EvidenceVerb = async ({ given, places, what: file }) => {
  if (readText(given, 'tenant') !== undefined)
    throw new UsageError('An export is imported as a whole; choose tenants when it is made.')
  const trusted = readTrusted(given)
  return withEvidence(
    places,
    async ({ store, keys }) => {
      const found = await importEvidence({ store, keys, trusted, open: () => readLines(file) })
      const { header: _, ...report } = found
      process.stdout.write(
        given.options['json'] === true ? `${showJson(report)}\n` : showSafely(toPage(found)),
      )
      return found.ok ? exitCodes.ok : exitCodes.toolError
    },
    { makes: true, signs: false, recovers: false },
  )
}

function readTrusted(given: CommandLine): string[] {
  const ids = readText(given, 'trust')?.split(',') ?? []
  const stray = ids.find((id) => !/^key_[0-9a-f]{32}$/.test(id))
  if (stray === undefined) return ids
  throw new UsageError(
    `--trust is "${stray}"; it is the id of a key, such as key_ and 32 digits, or several with commas between them.`,
  )
}

function toPage({ issue, imported, known, trusted }: ImportReport): string {
  if (issue !== undefined) return `Nothing was imported. ${describeIssue(issue)}`
  const keys = trusted.map((id) => `The key ${id} is trusted from now on.\n`).join('')
  return `${imported} records were imported, ${known} were here already.\n${keys}`
}
