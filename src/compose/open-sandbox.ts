import type { Configuration, SandboxConfiguration } from '../contract/configuration.ts'
import type { Sandbox, SandboxKind } from '../contract/base/sandbox.ts'
import { createBubblewrapSandbox } from '../sandboxes/bubblewrap/create-bubblewrap-sandbox.ts'
import { createHostSandbox, type HostSandboxOptions } from '../sandboxes/host/create-host-sandbox.ts'
import { createSandboxRuntimeSandbox } from '../sandboxes/sandbox-runtime/create-sandbox-runtime-sandbox.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'

/** What isolates on this platform. */
const isolating = process.platform === 'darwin' ? 'sandbox-runtime' : 'bubblewrap'

/** What is chosen: the short form written out, with what isolates as the default kind. */
export function resolveSandbox(chosen: Configuration['sandbox']): {
  kind: SandboxKind
  isolation: Omit<SandboxConfiguration, 'kind'>
} {
  const { kind = isolating, ...isolation }: SandboxConfiguration =
    typeof chosen === 'string' ? { kind: chosen } : (chosen ?? {})
  return { kind, isolation }
}

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
