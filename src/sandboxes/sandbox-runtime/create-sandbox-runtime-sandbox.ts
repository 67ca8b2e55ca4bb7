import type { SandboxConfiguration } from '../../contract/configuration.ts'
import type { Sandbox } from '../../contract/services/sandbox.ts'
import { createHostSandbox, type HostSandboxOptions } from '../host/create-host-sandbox.ts'
import { createHiddenAliases } from '../places/hidden-aliases.ts'
import { createHiddenLook } from '../visible/hidden-look.ts'
import { createSandboxWriter } from './create-sandbox-writer.ts'
import { findMeans, type Means } from './means.ts'
import { createWrappedCommands, type Wrapping } from './wrapped-commands.ts'
import { messageOf } from '../../kit/text/message-of.ts'

/** What it stands on. */
export interface SandboxRuntimeOptions extends HostSandboxOptions {
  /** Of the bounds, those on the size of files and on CPU time hold. */
  readonly isolation?: Omit<SandboxConfiguration, 'kind'>
}

const mebibyte = 1024 * 1024

/**
 * A sandbox whose commands run in what the package `@anthropic-ai/sandbox-runtime` writes for the system's own means, which is seatbelt on
 * macOS: they read the system's programs and the roots of their call, write what they may, and have no network. Files and searches work
 * as on the host, inside the roots. Where it cannot be used, commands fail with `SANDBOX.UNAVAILABLE`. Close it.
 */
export function createSandboxRuntimeSandbox(options: SandboxRuntimeOptions): Sandbox {
  const { home, env, launcher, isolation = {} } = options
  const path = env['PATH'] ?? ''
  let means: Means | undefined
  const wrapping: Wrapping = {
    bounds: { fileBytes: isolation.fileBytes ?? 4096 * mebibyte, cpuSeconds: isolation.cpuSeconds },
    require: () => (means ??= findMeans(path)),
    hidden: createHiddenLook({ home, path, launcher }),
    aliases: createHiddenAliases(),
    writer: createSandboxWriter(),
  }
  const sandbox = createHostSandbox({
    ...options,
    commands: (reach) => createWrappedCommands(reach, wrapping),
    onMoved: () => wrapping.hidden.expire(),
  })
  return {
    ...sandbox,
    kind: 'sandbox-runtime',
    describe: () => `sandbox-runtime: ${describe(wrapping)}`,
    async close() {
      await sandbox.close()
      await wrapping.writer.close()
    },
  }
}

function describe(wrapping: Wrapping): string {
  try {
    wrapping.require()
    const left = process.platform === 'linux' ? '' : '; what leaves their process group may go on after them'
    return `commands run as this process's user and see the roots of their call, without network${left}`
  } catch (error) {
    return messageOf(error)
  }
}
