import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownMark } from './process-mark.ts'

/** Makes a folder that only this process's user may enter. The next Handrail removes it where this one cannot. */
export function makeTemporaryFolder(above = tmpdir()): string {
  return mkdtempSync(join(above, `handrail-${ownMark()}-`))
}
