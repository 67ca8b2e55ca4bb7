import { join } from 'node:path'
import type { AgentWorktree, AgentWorktrees } from '../agents/children/child-ports.ts'
import type { Services } from '../contract/base/services.ts'
import type { ToolDefinition } from '../contract/base/tool.ts'
import { clearWorktree } from '../tools/code/worktree/clear-worktree.ts'
import { enterWorktreeTool } from '../tools/code/worktree/enter-worktree.ts'
import { findWorktree, worktreesFolder } from '../tools/code/worktree/worktree.ts'
import type { TenantContexts } from './tenant-contexts.ts'

/** What a tool of a tenant may reach that makes worktrees, and no more. */
type Reach = Pick<Services, 'files' | 'commands'> & {
  readonly project: string
  readonly signal: AbortSignal
}

/** The worktrees that agents work in. Handrail itself clears them, in the sandbox and within the bounds of the tool that makes them. */
export function createAgentWorktrees(tenants: TenantContexts): AgentWorktrees {
  let definition: ToolDefinition | undefined
  const reach = (tenant: string): Reach => {
    const { context } = tenants.of(tenant)
    definition ??= enterWorktreeTool().definition
    const profile = context.policy.profile(context.bounds, definition)
    const { files, commands } = context.sandbox.enter(profile, { access: 'write' })
    return { files, commands, project: context.project, signal: new AbortController().signal }
  }
  const find = async (tenant: string, name: string): Promise<AgentWorktree | undefined> => {
    const { files, project } = reach(tenant)
    const found = await findWorktree(files, project, name)
    return found && { path: found.path, branch: found.branch ?? null }
  }
  return {
    find,
    async clear(tenant, name, about) {
      const { context } = tenants.of(tenant)
      const path = join(context.project, worktreesFolder, name)
      const cleared = await clearWorktree(reach(tenant), { ...about, id: name })
      if (cleared === 'kept') return (await find(tenant, name)) ?? { path, branch: null }
      if (cleared === 'removed')
        context.evidence.note({
          kind: 'note',
          event: 'worktree_removed',
          tenant,
          session: '',
          at: context.now(),
          message: `The worktree "${name}" of an agent was removed: no work was in it.`,
          data: { worktree: name },
        })
      return undefined
    },
    leave: (path) => tenants.worktrees.leave(path),
  }
}
