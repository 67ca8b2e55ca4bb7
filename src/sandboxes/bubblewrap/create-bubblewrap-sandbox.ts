import type { SandboxConfiguration } from '../../contract/configuration.ts'
import type { Sandbox } from '../../contract/services/sandbox.ts'
import { createHostSandbox, type HostSandboxOptions } from '../host/create-host-sandbox.ts'
import { findOwnFolder } from '../places/own-folders.ts'
import { createIsolatedCommands } from './isolated-commands.ts'
import { createIsolation } from './isolation.ts'
import { canPass } from './system-places.ts'
import { messageOf } from '../../kit/text/message-of.ts'

/** What it stands on. */
export interface BubblewrapSandboxOptions extends HostSandboxOptions {
  readonly isolation?: Omit<SandboxConfiguration, 'kind'>
}

const mebibyte = 1024 * 1024

/**
 * A sandbox whose commands run in bubblewrap, as a user that is not root: they see the system's programs, the roots of their call and
 * nothing else, have no network but the hosts of their call, through a proxy, and end as one. Files and searches work as on the host, inside the roots. Where
 * bubblewrap cannot be used, commands fail with `SANDBOX.UNAVAILABLE`. Close it.
 */
export function createBubblewrapSandbox(options: BubblewrapSandboxOptions): Sandbox {
  const {
    user,
    processes,
    memoryBytes,
    fileBytes,
    tmpBytes,
    layerBytes,
    cpuSeconds,
    hold = 'asked',
  } = options.isolation ?? {}
  const isolation = createIsolation({
    project: options.project,
    home: options.home,
    env: options.env,
    user,
    launcher: options.launcher,
    hold,
    bounds: {
      processes: processes ?? 512,
      memoryBytes: memoryBytes ?? 4096 * mebibyte,
      fileBytes: fileBytes ?? 4096 * mebibyte,
      tmpBytes: tmpBytes ?? 512 * mebibyte,
      layerBytes: layerBytes ?? 8192 * mebibyte,
      cpuSeconds,
    },
  })
  const sandbox = createHostSandbox({
    ...options,
    commands: (reach) => createIsolatedCommands(reach, isolation),
    onMoved: () => isolation.hidden.expire(),
  })
  return {
    ...sandbox,
    kind: 'bubblewrap',
    ownFolder(path) {
      const user = isolation.find()?.user
      return user === undefined ? path : findOwnFolder(path, (folder) => canPass(folder, user))
    },
    describe: () => `bubblewrap: ${describeCommands(isolation)}`,
    async close() {
      await sandbox.close()
      await isolation.close()
    },
  }
}

function describeCommands(isolation: ReturnType<typeof createIsolation>): string {
  try {
    const { user } = isolation.require()
    const { processes, memoryBytes } = isolation.bounds
    return `commands run as ${user.name} and see the roots of their call, without network but for the hosts of their call, at most ${processes} processes with ${Math.round(memoryBytes / mebibyte)} MiB each`
  } catch (error) {
    return messageOf(error)
  }
}
