import { appendFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from './replace-file.ts'
import type { RunLog } from './run-log.ts'

/** Writes lines, of each log as many as fit. A log that is full says so in its last line. */
export function createAppender(folder: string, logBytes: number) {
  const sizes = new Map<RunLog, number>()
  const sizeOf = async (path: string): Promise<number> =>
    stat(path).then(
      ({ size }) => size,
      () => 0,
    )
  return {
    async write(log: RunLog, lines: readonly string[], anew: boolean): Promise<void> {
      const path = join(folder, log)
      const before = anew ? 0 : (sizes.get(log) ?? (await sizeOf(path)))
      let size = before
      const fitting: string[] = []
      for (const line of lines) {
        if (size > logBytes) break
        size += Buffer.byteLength(line)
        fitting.push(
          size > logBytes ? `${JSON.stringify({ left_out: `what is over ${logBytes} bytes` })}\n` : line,
        )
      }
      sizes.set(log, size)
      if (anew) await replaceFile(path, fitting.join(''))
      else if (fitting.length > 0) await appendFile(path, fitting.join(''), { mode: 0o600 })
    },
  }
}
