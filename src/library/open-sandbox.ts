import type { Configuration } from '../contract/configuration.ts'
import type { Sandbox } from '../contract/sandbox.ts'
import { createBubblewrapSandbox } from '../sandboxes/bubblewrap/create-bubblewrap-sandbox.ts'
import { createHostSandbox, type HostSandboxOptions } from '../sandboxes/host/create-host-sandbox.ts'

/** The sandbox of one project: the host only where it is chosen, else what isolates. */
export function openSandbox(chosen: Configuration['sandbox'], options: HostSandboxOptions): Sandbox {
  const { kind = 'bubblewrap', ...isolation } = typeof chosen === 'string' ? { kind: chosen } : (chosen ?? {})
  return kind === 'host' ? createHostSandbox(options) : createBubblewrapSandbox({ ...options, isolation })
}
