import { showSafely } from '../kit/show-safely.ts'

export { showLine, showSafely } from '../kit/show-safely.ts'

/** Writes text for a person. A pipe or a file gets it as it is. */
export function writeText(stream: NodeJS.WriteStream, text: string): void {
  stream.write(stream.isTTY ? showSafely(text) : text)
}
