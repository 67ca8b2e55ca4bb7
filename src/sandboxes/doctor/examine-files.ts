import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import { createHostSandbox } from '../host/create-host-sandbox.ts'
import type { ExaminedSetup } from './examined-setup.ts'
import type { Finding } from './finding.ts'
import { profileOf } from './profile-of.ts'

/** Whether files are reached by descriptor, and links out of a root lead nowhere. */
export async function examineFiles({ env, home }: ExaminedSetup): Promise<Finding[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handrail-doctor-')))
  const root = join(folder, 'root')
  mkdirSync(root)
  writeFileSync(join(folder, 'outside'), 'outside')
  writeFileSync(join(root, 'inside'), 'inside')
  symlinkSync('../outside', join(root, 'out'))
  const sandbox = createHostSandbox({ project: root, env, home })
  try {
    const { files } = sandbox.enter(profileOf(root, []), { access: 'read' })
    const { bytes } = await files.read('inside')
    const led = await files.read('out').then(
      () => true,
      (error: unknown) => !(error instanceof ToolFailure && error.code === 'SANDBOX.CAPABILITY_BLOCKED'),
    )
    const linux = process.platform === 'linux'
    return [
      {
        id: 'files',
        holds: Buffer.from(bytes).toString() === 'inside' && !led,
        needed: true,
        detail: linux
          ? 'read by descriptor, a link out of a root refused; safe against links and races'
          : 'a link out of a root refused; not safe against a race, for which Linux is needed',
      },
    ]
  } finally {
    await sandbox.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
