import { parentPort, workerData } from 'node:worker_threads'
import { verifyEvidence } from '../../../evidence/chain/verify-evidence.ts'
import type { VerifyTask } from '../../setup/verify-in-thread.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { withEvidence } from './open-evidence.ts'

// What `createVerifier` starts: it reads the chains in a thread, so that calls do not wait for it.
const { places, tenant }: VerifyTask = workerData
void withEvidence(
  places,
  async ({ store, keys }) => {
    const found = verifyEvidence(store, { keys, ...(tenant !== undefined && { tenant }) })
    parentPort?.postMessage(found)
    return found.ok ? exitCodes.ok : exitCodes.toolError
  },
  { warns: false },
)
