import { SetupError } from '../../contract/base/errors.ts'
import { toolStates, type StateChange, type ToolState } from '../../contract/registry.ts'
import type { FactChange } from '../../contract/store.ts'
import { stateEvents, type RegistryNote } from './registry-note.ts'
import { allTenants, keepState } from './tool-facts.ts'
import { canGo, combineStates, describeWays, type Said, type StateFact } from './tool-states.ts'

interface About {
  name: string
  /** Of the tool that has the name now. */
  identity: string
  to: ToolState
  change: StateChange
  /** What was said of the tool so far, for all and for the tenant of the change. */
  said: Said
  /** Tenants for which alone something was said of it. */
  apart: readonly string[]
  at: number
}

/** What is written where a tool goes to another state. Throws a SetupError where it cannot go there. */
export function planStateChange(about: About): { note: RegistryNote; facts: readonly FactChange[] } {
  const { name, identity, to, change, said, apart, at } = about
  const scope = change.tenant ?? allTenants
  const from = combineStates(scope === allTenants ? { ...said, own: undefined } : said).state
  const forWhom = scope === allTenants ? 'all tenants' : `tenant "${scope}"`
  if (!canGo(from, to))
    throw refuse(
      `"${name}" is ${from === to ? 'already ' : ''}${from} for ${forWhom}${from === to ? '' : ` and cannot be ${to}`}; from there it can be ${describeWays(from)}.${change.tenant === undefined ? describeApart(apart) : ''}`,
    )
  const fact: StateFact = {
    state: to,
    by: change.by,
    at,
    ...(change.reason !== undefined && { reason: change.reason }),
    ...(to === 'deprecated' && change.removed === true && { removed: true }),
    identity,
  }
  const next = combineStates(
    scope === allTenants ? { ...said, own: undefined, all: fact } : { ...said, own: fact },
  )
  if (next.state !== to)
    throw refuse(
      `"${name}" is ${next.state} for all tenants, so it cannot be ${to} for ${forWhom} alone. Change it for all tenants first.`,
    )
  const note: RegistryNote = {
    event: stateEvents[to],
    scope,
    tool: name,
    by: change.by,
    message: `${change.by} made ${name} ${to} for ${forWhom}${change.reason === undefined ? '' : `: ${change.reason}`}`,
    data: {
      from,
      to,
      identity,
      ...(change.reason !== undefined && { reason: change.reason }),
      ...(fact.removed === true && { removed: true }),
    },
  }
  return { note, facts: [keepState(scope, name, fact)] }
}

function describeApart(tenants: readonly string[]): string {
  if (tenants.length === 0) return ''
  const names = tenants.slice(0, 3).map((tenant) => `"${tenant}"`)
  const more = tenants.length > 3 ? ` and ${tenants.length - 3} more` : ''
  return ` Something else was said for ${names.join(', ')}${more}: name the tenant to change it there.`
}

function refuse(message: string): SetupError {
  return new SetupError('invalid_transition', message)
}

const changeFields: readonly string[] = ['tenant', 'by', 'reason', 'removed']

/** Throws a SetupError with every issue in the form of a change. */
export function checkStateChange(to: unknown, change: StateChange): void {
  const issues = Object.keys(change)
    .filter((field) => !changeFields.includes(field))
    .map((field) => ({
      pointer: `/${field}`,
      code: 'unknown_field',
      message: `A change of state has no field "${field}"; there are ${changeFields.join(', ')}.`,
    }))
  if (!toolStates.some((state) => state === to) || to === 'registered')
    issues.push({
      pointer: '/state',
      code: 'unknown_value',
      message: `"${String(to)}" is none of enabled, paused, deprecated.`,
    })
  if (typeof change.by !== 'string' || change.by === '')
    issues.push({ pointer: '/by', code: 'missing', message: 'Say who changes it.' })
  if (change.removed === true && to !== 'deprecated')
    issues.push({
      pointer: '/removed',
      code: 'inconsistent',
      message: 'Only a deprecated tool can be removed for good.',
    })
  if (issues.length > 0) throw new SetupError('invalid_options', 'The state cannot be changed:', issues)
}
