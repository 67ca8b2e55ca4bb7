import { StringDecoder } from 'node:string_decoder'

export interface LineReader {
  readonly push: (chunk: Buffer) => void
  /** Reads what is left as a line. */
  end(): void
}

export interface LineReaderOptions {
  /** Counted in UTF-16 code units. */
  readonly maxLength: number
  readonly onLine: (line: string) => void
  /** Called once for each line that is too long. */
  readonly onLong: () => void
}

/** Puts lines of UTF-8 together from chunks, and passes over those that are too long. */
export function createLineReader({ maxLength, onLine, onLong }: LineReaderOptions): LineReader {
  const decoder = new StringDecoder('utf8')
  let line = ''
  let skipping = false
  return {
    push(chunk) {
      const parts = decoder.write(chunk).split('\n')
      parts[0] = line + (parts[0] ?? '')
      line = parts.pop() ?? ''
      for (const part of parts) {
        if (skipping) skipping = false
        else if (part.length > maxLength) onLong()
        else onLine(part)
      }
      if (skipping) line = ''
      else if (line.length > maxLength) {
        onLong()
        skipping = true
        line = ''
      }
    },
    end() {
      if (line !== '' && !skipping) onLine(line)
    },
  }
}
