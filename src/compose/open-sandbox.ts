import type { Configuration, SandboxConfiguration } from '../contract/configuration.ts'
import type { Sandbox } from '../contract/base/sandbox.ts'
import { createBubblewrapSandbox } from '../sandboxes/bubblewrap/create-bubblewrap-sandbox.ts'
import { createHostSandbox, type HostSandboxOptions } from '../sandboxes/host/create-host-sandbox.ts'
import { createSandboxRuntimeSandbox } from '../sandboxes/sandbox-runtime/create-sandbox-runtime-sandbox.ts'

/** What isolates on this platform. */
const isolating = process.platform === 'darwin' ? 'sandbox-runtime' : 'bubblewrap'

/** What is chosen: the short form written out, with what isolates as the default kind. */
export function resolveSandbox(chosen: Configuration['sandbox']) {
  const { kind = isolating, ...isolation }: SandboxConfiguration =
    typeof chosen === 'string' ? { kind: chosen } : (chosen ?? {})
  return { kind, isolation }
}

/** The sandbox of one project: the host only if it is chosen, else what isolates. */
export function openSandbox(chosen: Configuration['sandbox'], options: HostSandboxOptions): Sandbox {
  const { kind, isolation } = resolveSandbox(chosen)
  if (kind === 'host') return createHostSandbox(options)
  return kind === 'bubblewrap'
    ? createBubblewrapSandbox({ ...options, isolation })
    : createSandboxRuntimeSandbox({ ...options, isolation })
}
