import type { Verification } from '../../contract/evidence.ts'
import type { Prunable, Verifier } from '../../console/base/console-parts.ts'
import type { Places } from './wire.ts'
import { startThread } from '../../kit/start-thread.ts'

/** What the thread is told: to verify, or to count what a prune would take. */
export interface EvidenceTask {
  readonly places: Places
  readonly tenant: string | undefined
  readonly prunableBefore?: number
}

/** What the thread says. */
export interface EvidenceWord {
  /** Records that were held against their chain by now. */
  readonly records?: number
  readonly found?: Verification
  readonly prunable?: readonly Prunable[]
}

/**
 * Verifies the evidence of the home folder as `handrail evidence verify` does, in a thread of its own. One verification runs at a time; who asks for the
 * same meanwhile gets its answer.
 */
export function createVerifier(places: Places): Verifier {
  const waiting = new Map<string | undefined, Promise<Verification>>()
  let last: Promise<unknown> = Promise.resolve()
  let progress: ReturnType<Verifier['progress']> = undefined
  return {
    verify(tenant) {
      const known = waiting.get(tenant)
      if (known !== undefined) return known
      const begin = async (): Promise<Verification> => {
        progress = { tenant, records: 0 }
        const { found } = await readInThread({ places, tenant }, ({ records }) => {
          if (records !== undefined) progress = { tenant, records }
        })
        if (found === undefined) throw noAnswer()
        return found
      }
      const found = last.then(begin, begin).finally(() => {
        progress = undefined
        waiting.delete(tenant)
      })
      waiting.set(tenant, found)
      last = found
      return found
    },
    progress: () => progress,
    async prunable(tenant, before) {
      const { prunable } = await readInThread({ places, tenant, prunableBefore: before })
      if (prunable === undefined) throw noAnswer()
      return prunable
    },
  }
}

/** The last word of the thread; `hear` is told the others. */
function readInThread(
  task: EvidenceTask,
  hear: (word: EvidenceWord) => void = () => {},
): Promise<EvidenceWord> {
  const worker = startThread(findWorker(), { workerData: task, execArgv: [] })
  worker.unref()
  return new Promise((resolve, reject) => {
    worker.on('message', (word: EvidenceWord) => {
      if (word.records === undefined) resolve(word)
      else hear(word)
    })
    worker.once('error', reject)
    worker.once('exit', () => reject(noAnswer()))
  })
}

function noAnswer(): Error {
  return new Error('The thread that reads the evidence ended without an answer.')
}

/** Among the commands, or where the build puts it. */
function findWorker(): URL {
  const here = import.meta.url
  return new URL(
    here.endsWith('.ts') ? '../commands/evidence/verify-worker.ts' : '../workers/verify-worker.cjs',
    here,
  )
}
