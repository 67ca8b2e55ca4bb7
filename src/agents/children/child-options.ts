import type { RegisteredAgentDefinition } from '../../contract/services/agent-definition.ts'
import type { ChildWish } from '../../contract/services/child-agents.ts'
import type { RunOptions, Session, SessionOptions } from '../../contract/runtime.ts'
import type { RunSettings } from '../loop/run-settings.ts'
import { childTools } from './child-tools.ts'

/** What an agent that a call starts is made from. */
export interface ChildGround {
  readonly definition: RegisteredAgentDefinition | undefined
  /** The session of the call. */
  readonly parent: Session
  /** Those of the run that makes the call; undefined if it is of none. */
  readonly settings: RunSettings | undefined
}

/** What of the options of its run a call says of its agent. */
export type ChildTask = Pick<
  RunOptions,
  'system' | 'instructions' | 'output' | 'maxTurns' | 'presentation' | 'providerOptions' | 'contextTokens'
>

type Wish = Omit<ChildWish, 'task'>

/** How the session of an agent is opened that a call starts: below that of the call, so that it can do what that one may, or less, whatever is asked for here. */
export function childSession(
  wish: Wish,
  { definition, parent }: ChildGround,
): Pick<SessionOptions, 'role' | 'mode' | 'allowedTools' | 'disallowedTools'> {
  const allowedTools = childTools(wish, { definition, parent })
  const mode = wish.mode ?? definition?.mode
  return {
    role: wish.kind === 'sub' ? (definition?.role ?? 'sub') : wish.kind,
    ...(allowedTools !== undefined && { allowedTools }),
    ...(definition?.disallowedTools !== undefined && { disallowedTools: definition.disallowedTools }),
    ...(mode !== undefined && { mode }),
  }
}

/** How an agent works that a call starts. */
export function childTask(wish: Wish, ground: ChildGround): ChildTask {
  const { definition, settings } = ground
  const maxTurns = least(wish.maxTurns, definition?.limits?.maxTurns)
  const output = wish.output ?? definition?.outputSchema
  return {
    ...inherited(settings),
    ...toldBy(wish, ground),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(output !== undefined && { output }),
  }
}

/** As its definition says, which is text of a stranger if the project wrote it; a fork as its parent. */
function toldBy(
  { kind }: Wish,
  { definition, settings }: ChildGround,
): Pick<RunOptions, 'system' | 'instructions'> {
  const { system, instructions = [] } = settings ?? {}
  if (kind === 'fork' || definition === undefined)
    return { instructions, ...(kind === 'fork' && system !== undefined && { system }) }
  return definition.origin === 'project'
    ? { instructions: [...instructions, definition.instructions] }
    : { instructions, system: definition.instructions }
}

/** What an agent has from the one that started it, as it works with the same provider for the same project. */
function inherited({ presentation, providerOptions, contextTokens }: RunSettings = {}): ChildTask {
  return {
    ...(presentation !== undefined && { presentation }),
    ...(providerOptions !== undefined && { providerOptions }),
    ...(contextTokens !== undefined && { contextTokens }),
  }
}

/** The smallest of what is there. */
export function least(...limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
