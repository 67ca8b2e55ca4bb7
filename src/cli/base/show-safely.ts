import { showJson, showSafely } from '../../kit/text/show-safely.ts'

export { showJson, showLine, showSafely } from '../../kit/text/show-safely.ts'

/** Writes text for a person. A pipe or a file gets it as it is. */
export function writeText(stream: NodeJS.WriteStream, text: string): void {
  stream.write(stream.isTTY ? showSafely(text) : text)
}

/** Writes a value as JSON, the same for a person and a program. */
export function writeJson(value: unknown): void {
  process.stdout.write(`${showJson(value)}\n`)
}
