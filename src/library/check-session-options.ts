import type { Fault } from '../contract/json.ts'
import { modes, roles, type Mode } from '../contract/principal.ts'
import type { SessionOptions } from '../contract/runtime.ts'
import { idForm, isId } from '../kit/is-id.ts'
import type { Family } from '../runtime/family.ts'
import { checkDeliverables } from './check-deliverables.ts'
import { checkToolLists } from './check-tool-lists.ts'
import { findUnknownFields } from './find-unknown-fields.ts'
import { findUnknownValue } from './find-unknown-value.ts'

const fields: readonly (keyof SessionOptions)[] = [
  'role',
  'mode',
  'tenant',
  'actor',
  'agent',
  'allowedTools',
  'disallowedTools',
  'approve',
  'respond',
  'signal',
  'deliverables',
  'parent',
]

/** Every fault of the options of a session. `family` is what its parent hands to it, where it has one that this runtime opened. */
export function checkSessionOptions(given: SessionOptions, family: Family | undefined): Fault[] {
  return [
    ...findUnknownFields(given, fields),
    ...findUnknownValue('/role', given.role, roles),
    ...findUnknownValue('/mode', given.mode, modes),
    ...checkToolLists(given),
    ...checkDeliverables(given.deliverables),
    ...checkId(given, 'tenant'),
    ...checkId(given, 'actor'),
    ...(given.parent === undefined ? [] : checkChild(given, family)),
  ]
}

function checkId(given: SessionOptions, field: 'tenant' | 'actor'): Fault[] {
  const value = given[field]
  if (value === undefined || isId(value)) return []
  const message = `"${String(value).slice(0, 80)}" is no id: use ${idForm}.`
  return [{ pointer: `/${field}`, code: 'invalid_id', message }]
}

/** In order of increasing reach. */
const modesByReach: readonly Mode[] = ['plan', 'default', 'accept-edits', 'bypass']

function checkChild(given: SessionOptions, family: Family | undefined): Fault[] {
  if (family === undefined)
    return [{ pointer: '/parent', code: 'unknown_session', message: 'It is no session of this runtime.' }]
  if (family.isClosed())
    return [
      { pointer: '/parent', code: 'closed', message: 'The parent is closed, and so are all that it opened.' },
    ]
  const { principal, mode } = family
  const faults: Fault[] = []
  const refuse = (field: keyof SessionOptions, message: string) =>
    faults.push({ pointer: `/${field}`, code: 'beyond_parent', message })
  for (const field of ['tenant', 'actor'] as const)
    if (given[field] !== undefined && given[field] !== principal[field])
      refuse(field, `A child is of the ${field} of its parent, which is "${principal[field]}". Leave it out.`)
  if (given.role !== undefined && roles.indexOf(given.role) < roles.indexOf(principal.role))
    refuse(
      'role',
      `The role "${given.role}" reaches further than the parent's, which is "${principal.role}".`,
    )
  if (given.mode !== undefined && modesByReach.indexOf(given.mode) > modesByReach.indexOf(mode))
    refuse('mode', `The mode "${given.mode}" reaches further than the parent's, which is "${mode}".`)
  if (given.approve !== undefined) refuse('approve', 'The approver of the parent is asked. Leave it out.')
  if (given.respond !== undefined) refuse('respond', 'The responder of the parent is asked. Leave it out.')
  return faults
}
