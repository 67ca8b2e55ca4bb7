import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { describeFileError } from '../../../kit/text/describe-file-error.ts'
import { showLine } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'

/** The lines of a file. */
export async function* readLines(file: string): AsyncIterable<string> {
  try {
    yield* createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY })
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    throw new UsageError(`The file "${showLine(file)}" cannot be read: ${describeFileError(error)}.`)
  }
}
