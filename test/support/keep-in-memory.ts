import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'handrail-tests-'

/**
 * Puts the temporary files of a run into memory, if its user may mount: a disk takes a fifth of its time. `npm run test:long` works on the
 * disk.
 */
export default function keepInMemory(): (() => void) | undefined {
  const outer = tmpdir()
  // A run that was killed could not unmount its own.
  for (const name of readdirSync(outer)) if (isLeft(name)) unmount(join(outer, name))
  const folder = join(outer, `${prefix}${process.pid}`)
  mkdirSync(folder)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'mode=1777', 'handrail-tests', folder])
  if (mounted.status !== 0) {
    rmSync(folder, { recursive: true })
    return undefined
  }
  process.env['TMPDIR'] = folder
  return () => unmount(folder)
}

function isLeft(name: string): boolean {
  return name.startsWith(prefix) && !existsSync(`/proc/${name.slice(prefix.length)}`)
}

/** What a process still has open there keeps nothing in place. */
function unmount(folder: string): void {
  spawnSync('umount', ['-l', folder])
  // What a killed run had started may have written there since.
  rmSync(folder, { recursive: true, force: true })
}
