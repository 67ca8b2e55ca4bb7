import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../../contract/store.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { countOf } from '../render/count-of.ts'

/** The worktrees that agents left, each with what can be done about it. Those of agents at work are not named. */
export function describeWorktrees(store: Pick<Store, 'tenants' | 'documents' | 'lives'>): string {
  const left = store.tenants().flatMap((tenant) =>
    store.documents({ tenant, kind: 'worktree' }).flatMap(({ group: agent, id: name, value }) => {
      if (!isPlainObject(value)) return []
      const { project, state, writer } = value
      const path = join(typeof project === 'string' ? project : '', '.handrail/worktrees', name)
      const isAtWork = state === 'used' && typeof writer === 'string' && store.lives(writer)
      if (isAtWork || !existsSync(path)) return []
      return [
        state === 'kept'
          ? `${path} has the work of the agent ${agent}: merge it, then "git worktree remove ${path}"`
          : `${path} is of the agent ${agent}, which was cut off: resume its run, or the next agent with a worktree clears it if no work is in it`,
      ]
    }),
  )
  return left.length === 0
    ? 'none left by agents'
    : `${countOf(left.length, 'worktree')} left by agents. ${left.join('. ')}`
}
