import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sandbox } from '../contract/services/sandbox.ts'
import type { SandboxUnderTest } from '../testing/sandbox-checks/sandbox-under-test.ts'
import type { HostSandboxOptions } from './host/create-host-sandbox.ts'

/** A sandbox of one kind around a fresh project, in which every user may do everything. */
export async function openSubject(
  create: (options: HostSandboxOptions) => Sandbox,
): Promise<SandboxUnderTest> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'handrail-test-')))
  const [project, outside] = [join(base, 'project'), join(base, 'outside')]
  for (const folder of [project, outside]) mkdirSync(folder)
  writeFileSync(join(outside, 'canary.txt'), 'CANARY')
  for (const folder of [base, project, outside]) chmodSync(folder, 0o777)
  const env = { PATH: process.env['PATH'] ?? '' }
  const sandbox = create({ project, env, home: join(base, 'home') })
  return {
    sandbox,
    project,
    outside,
    async dispose() {
      await sandbox.close()
      rmSync(base, { recursive: true, force: true })
    },
  }
}
