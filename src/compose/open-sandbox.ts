import type { Sandbox } from '../contract/services/sandbox.ts'
import { createBubblewrapSandbox } from '../sandboxes/bubblewrap/create-bubblewrap-sandbox.ts'
import { createHostSandbox, type HostSandboxOptions } from '../sandboxes/host/create-host-sandbox.ts'
import { createSandboxRuntimeSandbox } from '../sandboxes/sandbox-runtime/create-sandbox-runtime-sandbox.ts'
import { resolveSandbox } from './options/resolve-sandbox.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'

/** The sandbox of one project: one of the host program's own, the host only if it is chosen, else what isolates. */
export function openSandbox(chosen: RuntimeOptions['sandbox'], options: HostSandboxOptions): Sandbox {
  if (typeof chosen === 'function') {
    const { project, home, env } = options
    return chosen({ project, home, env })
  }
  const { kind, isolation } = resolveSandbox(chosen)
  if (kind === 'host') return createHostSandbox(options)
  return kind === 'bubblewrap'
    ? createBubblewrapSandbox({ ...options, isolation })
    : createSandboxRuntimeSandbox({ ...options, isolation })
}
