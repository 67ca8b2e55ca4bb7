import { UsageError } from './usage-error.ts'

/** The input of a call from the command line: JSON text, or `-` for standard input. Without it, an empty object. */
export async function parseInput(text: string | undefined): Promise<unknown> {
  if (text === undefined) return {}
  const source = text === '-' ? await (await import('node:stream/consumers')).text(process.stdin) : text
  try {
    return JSON.parse(source)
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    throw new UsageError(
      `The input is not valid JSON: ${detail}. Write one JSON object, in single quotes so that the shell leaves it alone.`,
    )
  }
}
