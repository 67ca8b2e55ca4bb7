import { parentPort, workerData } from 'node:worker_threads'
import { verifyEvidence } from '../../../evidence/chain/verify-evidence.ts'
import type { EvidenceTask, EvidenceWord } from '../../setup/verify-in-thread.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { withEvidence } from './open-evidence.ts'

// What reads all evidence does it in a thread, so that calls do not wait for it.
const { places, tenant, prunableBefore }: EvidenceTask = workerData
const tell = (word: EvidenceWord): void => parentPort?.postMessage(word)
const named = tenant !== undefined && { tenant }
void withEvidence(
  places,
  async ({ store, keys }) => {
    if (prunableBefore === undefined) {
      const onProgress = (records: number): void => tell({ records })
      tell({ found: verifyEvidence(store, { keys, onProgress, ...named }) })
    } else {
      const tenants = tenant === undefined ? store.tenants() : [tenant]
      const bodies = tenants.map((name) => ({
        tenant: name,
        bodies: store.countPrunable({ tenant: name, at: prunableBefore }),
      }))
      tell({ prunable: bodies.filter((each) => each.bodies > 0) })
    }
    return exitCodes.ok
  },
  { warns: false },
)
