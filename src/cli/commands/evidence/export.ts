import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { exportEvidence } from '../../../evidence/export/export-evidence.ts'
import { describeFileError } from '../../../kit/text/describe-file-error.ts'
import { readText } from '../../arguments/caller.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showLine } from '../../base/show-safely.ts'
import { tellReads } from '../../render/progress.ts'
import { UsageError } from '../../base/usage-error.ts'
import type { EvidenceVerb } from './verb.ts'
import { findMeant, withEvidence } from './open-evidence.ts'

/** `handrail evidence export` */
export const exportVerb: EvidenceVerb = async ({ given, places }) => {
  const [tenant, text, out] = ['tenant', 'session', 'out'].map((name) => readText(given, name))
  return withEvidence(places, async ({ store, keys }) => {
    const meant = findMeant(store, { what: 'session', text, tenant })
    if (meant === undefined) return exitCodes.toolError
    const session = meant.id
    const wanted = {
      keys,
      at: Date.now(),
      ...(tenant !== undefined && { tenant }),
      ...(session !== undefined && { session }),
    }
    if (out === undefined) {
      await print(exportEvidence(store, wanted))
      return exitCodes.ok
    }
    const count = await tellReads(store, 'Exporting', (told) => writeFile(out, exportEvidence(told, wanted)))
    process.stdout.write(`${count - 2} records are in "${showLine(out)}".\n`)
    return exitCodes.ok
  })
}

/** A reader that went away has read enough; any other failure of the output is said for all commands in one place. */
async function print(lines: Iterable<string>): Promise<void> {
  let lost = false
  process.stdout.once('error', () => (lost = true))
  try {
    await write(process.stdout, lines)
  } catch (error) {
    if (!lost) throw error
  }
}

async function writeFile(path: string, lines: Iterable<string>): Promise<number> {
  // Inputs and results are no other user's business.
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 })
  try {
    await once(file, 'open')
    const count = await write(file, lines)
    file.end()
    await once(file, 'finish')
    return count
  } catch (error) {
    throw new UsageError(
      `The file "${showLine(path)}" cannot be written: ${describeFileError(error)}. Name a new one.`,
    )
  }
}

/** Returns the number of lines. */
async function write(stream: NodeJS.WritableStream, lines: Iterable<string>): Promise<number> {
  let count = 0
  for (const line of lines) {
    count++
    if (!stream.write(line)) await once(stream, 'drain')
  }
  return count
}
