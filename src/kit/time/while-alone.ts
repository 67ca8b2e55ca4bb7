import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Does what one process at a time may do with a folder; others wait. One that is killed is in the way of none: the lock is the system's. */
export function whileAlone<Done>(dir: string, act: () => Done): Done {
  const lock = new DatabaseSync(join(dir, '.lock'), { timeout: 60_000 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return act()
  } finally {
    lock.close()
  }
}
