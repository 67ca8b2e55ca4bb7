import type { Issue, JsonObject } from '../../contract/base/json.ts'
import type { FactChange } from '../../contract/store.ts'
import { isBuiltin } from '../../kit/builtin-tools.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import type { RegistryNote } from '../state/registry-note.ts'
import type { StagedTool } from './prepare-registration.ts'
import { judgeUpdate } from './judge-update.ts'
import type { Entry } from '../state/to-entry.ts'
import { changedFields, keepPending, keepPin, keepSchemas, pinOf, type PinBook } from '../state/tool-facts.ts'

/** Where a tool goes, and what is kept of that. */
export interface PlannedTool extends StagedTool {
  /**
   * `held`: registered, not callable until its definition is approved. `waiting`: the same, while the definition before it stays in
   * force.
   */
  readonly goes: 'in-force' | 'held' | 'waiting'
  /** The fields that wait for approval. */
  readonly changed: readonly string[]
  /** What is noted together with these facts; undefined if the store knows all of it. */
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

/**
 * A tool of the program or its operator is kept by version and digest, and judged by SemVer where nothing stands in its place yet; any other
 * goes in force only as it was pinned.
 */
export function planTool(stagedTool: StagedTool, about: About): PlannedTool {
  return stagedTool.entry.pinned ? planOutside(stagedTool, about) : planInside(stagedTool, about)
}

/** Whether a tool keeps to SemVer over restarts: what comes from outside knows nothing of our versions, and Handrail's own have its version. */
function isJudged({ outside, tool }: Entry): boolean {
  return !outside && !isBuiltin(tool)
}

/** Why a tool of the program may not be registered after what the store keeps of its name. A program may be set back to an earlier version. */
export function judgeKnown({ scope, entry, replaces }: StagedTool, pins: PinBook): Issue[] {
  const { name } = entry.definition
  const pin = pins.find(scope, name)
  if (replaces !== undefined || !isJudged(entry) || pin?.source !== entry.source) return []
  const { inputSchema, outputSchema } = pins.schemasOf(scope, name) ?? entry.definition
  const before = { definition: { version: pin.version, inputSchema, outputSchema }, digest: pin.digest }
  const issues = judgeUpdate(before, entry, true)
  return issues.map((issue) => ({ ...issue, pointer: pointerTo('', name) + issue.pointer }))
}

function planInside(stagedTool: StagedTool, about: About): PlannedTool {
  const { scope, entry, replaces } = stagedTool
  const { name } = entry.definition
  const isKnown = about.pins.find(scope, name)?.identity === entry.identity
  const isSame =
    replaces === undefined
      ? isKnown && (!about.isLater || entry.recalled)
      : replaces.identity === entry.identity
  if (isSame) return { ...stagedTool, goes: 'in-force', changed: [], tells: undefined }
  return inForce(stagedTool, about)
}

function planOutside(stagedTool: StagedTool, about: About): PlannedTool {
  const { scope, entry, replaces } = stagedTool
  const { name } = entry.definition
  const pin = about.pins.find(scope, name)
  // A pin without a definition is of a tool that the program itself once brought.
  if (pin === undefined || !('definition' in pin)) return inForce(stagedTool, about)
  const waited = about.pins.held(scope, name)
  if (pin.digest === entry.digest && pin.source === entry.source) {
    const isNew =
      replaces === undefined ? about.isLater && !entry.recalled : replaces.identity !== entry.identity
    if (isNew || waited !== undefined || pin.gone === true || pin.identity !== entry.identity)
      return inForce(stagedTool, about)
    return { ...stagedTool, goes: 'in-force', changed: [], tells: undefined }
  }
  const fields = changedFields(pin, entry.definition, entry.pinnedFields)
  const changed = pin.source === entry.source ? fields : [...fields, 'source']
  if (changed.length === 0) return inForce(stagedTool, about)
  const isSameSource = replaces !== undefined && replaces.source === entry.source
  const staysInForce = isSameSource && !about.isHeld && !entry.supersedes
  const goes = staysInForce ? 'waiting' : 'held'
  if (waited?.identity === entry.identity) return { ...stagedTool, goes, changed, tells: undefined }
  const note: RegistryNote = {
    event: 'definition_pending',
    scope,
    tool: name,
    by: about.by,
    message: `the definition of ${name} changed at its source ${entry.source} (${changed.join(', ')}) and waits for approval`,
    data: { ...describe(stagedTool), from: pin.digest, changed },
  }
  return { ...stagedTool, goes, changed, tells: { note, facts: [keepPending(scope, name, pinOf(entry))] } }
}

function inForce(stagedTool: StagedTool, { pins, by }: About): PlannedTool {
  const { scope, entry, replaces } = stagedTool
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
    data: { ...describe(stagedTool), ...(!isNew && from !== undefined && { from }) },
  }
  const facts = [keepPin(scope, name, pinOf(entry))]
  if (isJudged(entry)) facts.push(keepSchemas(scope, entry.definition))
  if (pins.held(scope, name) !== undefined) facts.push(keepPending(scope, name, undefined))
  return { ...stagedTool, goes: 'in-force', changed: [], tells: { note, facts } }
}

function describe({ entry }: StagedTool): JsonObject {
  return { version: entry.definition.version, digest: entry.digest, source: entry.source }
}
