import type { Json } from '../../contract/base/json.ts'
import { toolStates, type ToolStatus, type ToolState } from '../../contract/registry.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** What was said of a tool, for one tenant or for all, as the store keeps it. */
export interface StateFact {
  readonly state: ToolState
  readonly by: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly reason?: string
  readonly removed?: boolean
  /** The identity of the tool that it was said of. */
  readonly identity?: string
}

/**
 * Whether what was said counts for the tool that has the name now. What forbids it does in any case. A tool that has to be enabled is let
 * through only by what was said of this very definition; any other by what was said of a tool of its source.
 */
export function countsFor(
  { state, removed, identity }: StateFact,
  tool: { readonly identity: string; readonly initial: 'registered' | 'enabled' },
): boolean {
  if (state === 'paused' || removed === true) return true
  if (tool.initial === 'registered') return identity === tool.identity
  return identity === undefined || sourceIn(identity) === sourceIn(tool.identity)
}

function sourceIn(identity: string): string {
  return identity.slice(0, identity.indexOf(' '))
}

/** Where a tool can go from each state. A deprecation can be taken back, and made final. */
const ways: { readonly [from in ToolState]: readonly ToolState[] } = {
  registered: ['enabled', 'deprecated'],
  enabled: ['paused', 'deprecated'],
  paused: ['enabled', 'deprecated'],
  deprecated: ['enabled', 'deprecated'],
}

/** Whether a tool may go from one state to another. */
export function canGo(from: ToolState, to: ToolState): boolean {
  return ways[from].includes(to)
}

/** Where a tool can go from a state, in words. */
export function describeWays(from: ToolState): string {
  return ways[from].join(' or ')
}

/** What was said of one tool. */
export interface Said {
  /** For all tenants. */
  readonly all: StateFact | undefined
  /** For the one that asks. */
  readonly own: StateFact | undefined
  /** Where it stands as long as nothing was said. */
  readonly initial: 'registered' | 'enabled'
}

/**
 * Where a tool stands. What is paused or deprecated for all is so for every tenant, whatever was said for that one; whether it is enabled
 * is each tenant's own matter where something was said for it.
 */
export function combineStates({ all, own, initial }: Said): ToolStatus {
  const facts = [own, all].filter((fact) => fact !== undefined)
  const removed = facts.find((fact) => fact.removed === true)
  const paused = facts.find((fact) => fact.state === 'paused')
  const deprecated = removed ?? facts.find((fact) => fact.state === 'deprecated')
  const state = removed?.state ?? paused?.state ?? deprecated?.state ?? own?.state ?? all?.state ?? initial
  return {
    state,
    blocked: blockedBy(state, removed !== undefined),
    advice: deprecated === undefined ? undefined : (deprecated.reason ?? 'It will go away.'),
    changed: [],
    outage: undefined,
  }
}

function blockedBy(state: ToolState, removed: boolean): ToolStatus['blocked'] {
  switch (state) {
    case 'registered':
      return 'tool_not_available'
    case 'paused':
      return 'paused'
    case 'deprecated':
      return removed ? 'deprecated' : undefined
    case 'enabled':
      return undefined
  }
}

/** A fact as the store returns it. One that cannot be read pauses the tool. */
export function toStateFact(value: Json): StateFact {
  if (isPlainObject(value)) {
    const { state, by, at, reason, removed, identity } = value
    const known = toolStates.find((each) => each === state)
    if (known !== undefined && typeof by === 'string' && typeof at === 'number')
      return {
        state: known,
        by,
        at,
        ...(typeof reason === 'string' && { reason }),
        ...(removed === true && { removed }),
        ...(typeof identity === 'string' && { identity }),
      }
  }
  return { state: 'paused', by: '', at: 0, reason: 'Its state in the store cannot be read.' }
}
