import type { Sandbox } from '../contract/base/sandbox.ts'
import type { Bounds, PolicyEngine } from '../contract/policy.ts'
import { strictestEngine } from '../policy/strictest-engine.ts'
import type { TenantContext } from '../runtime/state/scope.ts'
import type { ResolvedOptions } from './options/resolve-options.ts'

/** What decides about what is held to a part of a project. */
export type PartOptions = ResolvedOptions & { readonly partOf: string }

/** The contexts of sessions that are held to a worktree of their tenant's project. */
export interface WorktreeContexts {
  of(tenant: string, worktree: string): TenantContext
  /** Forgets all of them, since the policy changed. */
  forget(): void
  /** Forgets those of a worktree, and closes its sandbox. */
  leave(worktree: string): Promise<void>
  close(): Promise<void>
}

/** Contexts of worktrees, each made when it is first asked for. */
export function createWorktreeContexts(around: {
  whole(tenant: string): { readonly context: TenantContext; readonly resolved: ResolvedOptions }
  policyOf(tenant: string, part: PartOptions): PolicyEngine
  openSandbox(part: PartOptions): Sandbox
}): WorktreeContexts {
  const made = new Map<string, TenantContext>()
  const sandboxes = new Map<string, Sandbox>()
  const sandboxFor = (part: PartOptions): Sandbox => {
    const known = sandboxes.get(part.project) ?? around.openSandbox(part)
    sandboxes.set(part.project, known)
    return known
  }
  const make = (tenant: string, worktree: string): TenantContext => {
    const { context, resolved } = around.whole(tenant)
    const bounds = boundsWithin(worktree, resolved.bounds)
    const part = { ...resolved, project: worktree, partOf: resolved.project, bounds }
    return {
      ...context,
      latest: () => of(tenant, worktree),
      policy: strictestEngine(context.policy, around.policyOf(tenant, part)),
      bounds,
      project: worktree,
      sandbox: sandboxFor(part),
    }
  }
  const of = (tenant: string, worktree: string): TenantContext => {
    const name = JSON.stringify([tenant, worktree])
    const known = made.get(name) ?? make(tenant, worktree)
    made.set(name, known)
    return known
  }
  return {
    of,
    forget: () => made.clear(),
    async leave(worktree) {
      for (const [name, { project }] of made) if (project === worktree) made.delete(name)
      const sandbox = sandboxes.get(worktree)
      sandboxes.delete(worktree)
      await sandbox?.close()
    },
    async close() {
      await Promise.all([...sandboxes.values()].map((sandbox) => sandbox.close()))
    },
  }
}

/** All that could be read or written can be read, and the worktree alone can be written. */
function boundsWithin(worktree: string, { capabilities, limits }: Bounds): Bounds {
  const { read, write } = capabilities.fs
  return { limits, capabilities: { ...capabilities, fs: { read: [...read, ...write], write: [worktree] } } }
}
