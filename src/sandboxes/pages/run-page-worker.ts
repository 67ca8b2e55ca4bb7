import { tooMuch } from './check-shape.ts'
import type { ConvertedPage, Page } from './page.ts'
import { startThread } from '../../kit/start-thread.ts'

const megabytes = 512

/**
 * Converts a page in a thread of its own and ends it, whatever it does: after its answer, at `timeoutMs`, when it takes too much
 * memory, or when a signal aborts. It sees no environment.
 */
export async function runPageWorker(
  page: Page,
  { timeoutMs, signals }: { timeoutMs: number; signals: readonly AbortSignal[] },
): Promise<ConvertedPage> {
  const worker = startThread(findWorker(), {
    workerData: page,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: megabytes, maxYoungGenerationSizeMb: 64 },
  })
  const deadline = AbortSignal.timeout(timeoutMs)
  const ending = AbortSignal.any([deadline, ...signals])
  try {
    return await new Promise<ConvertedPage>((resolve, reject) => {
      const end = () =>
        reject(deadline.aborted ? tooMuch(`takes longer than ${timeoutMs} ms to convert`) : ending.reason)
      if (ending.aborted) end()
      ending.addEventListener('abort', end, { once: true })
      worker.once('message', resolve)
      worker.once('error', (error) => reject(toFailure(error)))
      worker.once('exit', () => reject(new Error('The worker ended without an answer.')))
    })
  } finally {
    await worker.terminate()
  }
}

/** Beside this file, or where the build puts it. */
function findWorker(): URL {
  const here = import.meta.url
  return new URL(here.endsWith('.ts') ? './page-worker.ts' : '../workers/page-worker.cjs', here)
}

function toFailure(error: Error): Error {
  const tooLarge = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return tooLarge ? tooMuch(`takes more than ${megabytes} MB to convert`) : error
}
