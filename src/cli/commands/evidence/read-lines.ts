import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { UsageError } from '../../usage-error.ts'

/** The lines of a file. */
export async function* readLines(file: string): AsyncIterable<string> {
  try {
    yield* createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    if (code === undefined) throw error
    throw new UsageError(`The file "${file}" cannot be read (${code}).`)
  }
}
