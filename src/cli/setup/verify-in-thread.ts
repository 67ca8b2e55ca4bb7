import type { Verification } from '../../contract/evidence.ts'
import type { Places } from './wire.ts'
import { startThread } from '../../kit/start-thread.ts'

/** What the thread is told. */
export interface VerifyTask {
  readonly places: Places
  readonly tenant: string | undefined
}

/**
 * Verifies the evidence of the home folder as `handrail evidence verify` does, in a thread of its own. One verification runs at a time; who asks for the
 * same meanwhile gets its answer.
 */
export function createVerifier(places: Places): (tenant: string | undefined) => Promise<Verification> {
  const waiting = new Map<string | undefined, Promise<Verification>>()
  let last: Promise<unknown> = Promise.resolve()
  return (tenant) => {
    const known = waiting.get(tenant)
    if (known !== undefined) return known
    const begin = (): Promise<Verification> => verifyInThread({ places, tenant })
    const found = last.then(begin, begin).finally(() => waiting.delete(tenant))
    waiting.set(tenant, found)
    last = found
    return found
  }
}

function verifyInThread(task: VerifyTask): Promise<Verification> {
  const worker = startThread(findWorker(), { workerData: task, execArgv: [] })
  worker.unref()
  return new Promise((resolve, reject) => {
    worker.once('message', (found: Verification) => resolve(found))
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('The thread that verifies ended without an answer.')))
  })
}

/** Among the commands, or where the build puts it. */
function findWorker(): URL {
  const here = import.meta.url
  return new URL(
    here.endsWith('.ts') ? '../commands/evidence/verify-worker.ts' : '../workers/verify-worker.cjs',
    here,
  )
}
