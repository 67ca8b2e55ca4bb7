import { examineFiles } from './examine-files.ts'
import { examineIsolation } from './examine-isolation.ts'
import type { ExaminedSetup } from './examined-setup.ts'
import { examineSandboxRuntime } from './examine-sandbox-runtime.ts'
import { examinePrograms } from './examine-programs.ts'
import type { Finding } from './finding.ts'

/**
 * What holds on this machine, each found by trying it, in some seconds. Nothing of the project is changed; what is tried is written in a
 * folder of its own that is gone afterwards.
 */
export async function examineMachine(setup: ExaminedSetup): Promise<readonly Finding[]> {
  return [
    ...(await examinePrograms(setup.env['PATH'] ?? '')),
    ...(await examineFiles(setup)),
    ...(setup.kind === 'sandbox-runtime'
      ? await examineSandboxRuntime(setup)
      : await examineIsolation(setup)),
  ]
}
