import { SetupError } from '../../contract/base/errors.ts'
import type { Json } from '../../contract/base/json.ts'
import type { DefinitionApproval, PendingDefinition } from '../../contract/registry.ts'
import type { FactChange } from '../../contract/store.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import type { RegistryNote } from './registry-note.ts'
import { allTenants, keepPending, keepPin, type Pin, type PinBook } from './tool-facts.ts'

/** What is written where a person approves a changed definition. Throws a SetupError where no such one waits. */
export function planApproval(
  name: string,
  approval: DefinitionApproval,
  pins: PinBook,
): { note: RegistryNote; facts: readonly FactChange[] } {
  const scope = approval.tenant ?? allTenants
  const held = pins.held(scope, name)
  if (typeof approval.by !== 'string' || approval.by === '')
    throw new SetupError('invalid_options', 'Say who approves the definition: "by" is missing.')
  if (held === undefined)
    throw new SetupError(
      'invalid_transition',
      `No changed definition of "${name}" waits for approval${scope === allTenants ? '' : ` for tenant "${scope}"`}. ${describeWaiting(pins)}`,
    )
  if (held.digest !== approval.digest)
    throw new SetupError(
      'invalid_transition',
      `What waits for "${name}" is the definition ${held.digest}, not ${approval.digest}. It changed again; look at it first.`,
    )
  const before = pins.find(scope, name)
  const note: RegistryNote = {
    event: 'definition_approved',
    scope,
    tool: name,
    by: approval.by,
    message: `${approval.by} approved the changed definition of ${name}`,
    data: {
      version: held.version,
      digest: held.digest,
      source: held.source,
      ...(before !== undefined && { from: before.digest }),
    },
  }
  return { note, facts: [keepPin(scope, name, held), keepPending(scope, name, undefined)] }
}

function describeWaiting(pins: PinBook): string {
  const waiting = pins
    .listPending()
    .map(({ scope, name }) => (scope === allTenants ? `"${name}"` : `"${name}" for tenant "${scope}"`))
  const more = waiting.length > 5 ? ` and ${waiting.length - 5} more` : ''
  return waiting.length === 0
    ? 'Nothing waits, so there is nothing to approve.'
    : `What waits: ${waiting.sort().slice(0, 5).join(', ')}${more}.`
}

/** Everything that waits, with what changed. */
export function listPending(pins: PinBook): PendingDefinition[] {
  return pins
    .listPending()
    .map(({ scope, name, pin }) => ({
      tool: name,
      tenant: scope === allTenants ? undefined : scope,
      source: pin.source,
      version: pin.version,
      digest: pin.digest,
      changes: changesOf(pins.find(scope, name), pin),
    }))
    .sort((left, right) => (left.tool < right.tool ? -1 : Number(left.tool > right.tool)))
}

function changesOf(before: Pin | undefined, held: Pin): PendingDefinition['changes'] {
  const was: { readonly [field: string]: Json } = before?.definition ?? {}
  const is: { readonly [field: string]: Json } = held.definition ?? {}
  const source = { field: 'source', was: before?.source ?? null, is: held.source }
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .sort()
    .map((field) => ({ field, was: was[field] ?? null, is: is[field] ?? null }))
    .concat(source)
    .filter((change) => canonicalJson(change.was) !== canonicalJson(change.is))
}
