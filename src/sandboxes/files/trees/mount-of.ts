import { readFileSync } from 'node:fs'
import type { PathHandle } from '../path-handle.ts'

/**
 * The mount that a held directory lies on. Its device alone does not tell: a folder that is bound to another place has the device
 * of the file system it comes from. Elsewhere than on Linux the device has to do.
 */
export function mountOf({ self, stat }: PathHandle): string {
  if (process.platform !== 'linux') return String(stat.dev)
  const facts = readFileSync(self.replace('/fd/', '/fdinfo/'), 'latin1')
  return /^mnt_id:\s*(\d+)$/m.exec(facts)?.[1] ?? String(stat.dev)
}
