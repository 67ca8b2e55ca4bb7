import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../handrail/load.ts'

/** Microseconds that two writes of the size of a record take, each synced to the disk that the gateway keeps its evidence on. */
export function measureSyncs(rounds: number): number[] {
  const { directory, remove } = makeDirectory()
  const file = openSync(join(directory, 'synced'), 'w')
  const record = Buffer.alloc(4_096)
  const values = Array.from({ length: rounds * 20 }, () => {
    const before = performance.now()
    for (let each = 0; each < 2; each++) {
      writeSync(file, record)
      fdatasyncSync(file)
    }
    return (performance.now() - before) * 1000
  })
  closeSync(file)
  remove()
  return values
}
