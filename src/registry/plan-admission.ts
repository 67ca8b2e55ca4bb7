import type { JsonObject } from '../contract/json.ts'
import type { FactChange } from '../contract/store.ts'
import type { RegistryNote } from './registry-note.ts'
import type { Admission } from './prepare-registration.ts'
import { changedFields, keepHeld, keepPin, pinOf, type PinBook } from './tool-facts.ts'

/** Where a tool goes, and what is kept of that. */
export interface PlannedAdmission extends Admission {
  /**
   * `held`: registered, not callable until its definition is approved. `waiting`: the same, while the definition before it stays in
   * force.
   */
  readonly goes: 'in-force' | 'held' | 'waiting'
  /** The fields that wait for approval. */
  readonly changed: readonly string[]
  /** What is noted together with these facts; undefined where the store knows all of it. */
  readonly tells: { readonly note: RegistryNote; readonly facts: readonly FactChange[] } | undefined
}

interface About {
  /** What the store knows. */
  pins: PinBook
  by: string
  /** Whether the place of a tool is told although the store knows it. */
  isLater: boolean
  /** What it replaces waits for approval itself. */
  isHeld: boolean
}

/** A tool of the program or its operator is kept by version and digest; any other goes in force only as it was pinned. */
export function planAdmission(admission: Admission, about: About): PlannedAdmission {
  return admission.entry.pinned ? planOutside(admission, about) : planInside(admission, about)
}

function planInside(admission: Admission, about: About): PlannedAdmission {
  const { scope, entry, replaces } = admission
  const { name } = entry.definition
  const known = about.pins.find(scope, name)
  const isKnown = known?.digest === entry.digest && known.source === entry.source
  const isSame =
    replaces === undefined ? isKnown && (!about.isLater || entry.recalled) : replaces.digest === entry.digest
  if (isSame) return { ...admission, goes: 'in-force', changed: [], tells: undefined }
  return inForce(admission, about)
}

function planOutside(admission: Admission, about: About): PlannedAdmission {
  const { scope, entry, replaces } = admission
  const { name } = entry.definition
  const pin = about.pins.find(scope, name)
  // A pin without a definition is of a tool that the program itself once brought.
  if (pin === undefined || !('definition' in pin)) return inForce(admission, about)
  const waited = about.pins.held(scope, name)
  if (pin.digest === entry.digest) {
    if (pin.gone === true) return inForce(admission, about)
    const isNew = replaces === undefined ? about.isLater && !entry.recalled : replaces.digest !== entry.digest
    if (isNew || waited !== undefined) return inForce(admission, about)
    return { ...admission, goes: 'in-force', changed: [], tells: undefined }
  }
  const changed = changedFields(pin, entry.definition, entry.pinnedFields)
  if (changed.length === 0) return inForce(admission, about)
  const isSameSource = replaces !== undefined && replaces.source === entry.source
  const staysInForce = isSameSource && !about.isHeld && !entry.supersedes
  const goes = staysInForce ? 'waiting' : 'held'
  if (waited?.digest === entry.digest) return { ...admission, goes, changed, tells: undefined }
  const note: RegistryNote = {
    event: 'definition_held',
    scope,
    tool: name,
    by: about.by,
    message: `the definition of ${name} changed at its source ${entry.source} (${changed.join(', ')}) and waits for approval`,
    data: { ...describe(admission), from: pin.digest, changed },
  }
  return { ...admission, goes, changed, tells: { note, facts: [keepHeld(scope, name, pinOf(entry))] } }
}

function inForce(admission: Admission, { pins, by }: About): PlannedAdmission {
  const { scope, entry, replaces } = admission
  const { name, version } = entry.definition
  const before = replaces ?? pins.find(scope, name)
  const from = replaces?.definition.version ?? pins.find(scope, name)?.version
  const isNew = replaces === undefined && (before === undefined || before.digest === entry.digest)
  const note: RegistryNote = {
    event: isNew ? 'tool_registered' : 'tool_updated',
    scope,
    tool: name,
    by,
    message: isNew
      ? `${by} registered ${name} ${version} of ${entry.source}`
      : `${by} updated ${name} from ${from ?? ''} to ${version} of ${entry.source}`,
    data: { ...describe(admission), ...(!isNew && from !== undefined && { from }) },
  }
  const facts = [keepPin(scope, name, pinOf(entry))]
  if (pins.held(scope, name) !== undefined) facts.push(keepHeld(scope, name, undefined))
  return { ...admission, goes: 'in-force', changed: [], tells: { note, facts } }
}

function describe({ entry }: Admission): JsonObject {
  return { version: entry.definition.version, digest: entry.digest, source: entry.source }
}
