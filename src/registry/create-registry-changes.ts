import { SetupError } from '../contract/base/errors.ts'
import type {
  DefinitionApproval,
  RegisterOptions,
  RemoveOptions,
  StateChange,
  ToolState,
} from '../contract/registry.ts'
import type { ToolSource } from '../contract/tool/tool.ts'
import { isBuiltin } from '../kit/builtin-tools.ts'
import { nearestNames } from '../kit/text/nearest-names.ts'
import { planApproval } from './state/approve-definition.ts'
import type { ToolStatuses } from './state/create-tool-statuses.ts'
import type { ToolCatalog } from './create-tool-catalog.ts'
import { judgeKnown, planTool, type PlannedTool } from './admission/plan-tool.ts'
import { checkStateChange, planStateChange } from './state/plan-state-change.ts'
import { prepareRegistration, refusal, type Registration } from './admission/prepare-registration.ts'
import { joinNotes, toNoteRecord, toRemovalNote, type RegistryNote } from './state/registry-note.ts'
import type { RegistryOptions } from './registry-options.ts'
import type { Entry } from './state/to-entry.ts'
import { countsFor, type StateFact } from './state/tool-states.ts'
import { allTenants, keepGone, type PinBook } from './state/tool-facts.ts'

/** What can be changed. One change is made after the other; each resolves when it is durable and holds. */
export interface RegistryChanges {
  /** Registers what was prepared before there was a store. */
  start(registration: Registration): Promise<void>
  /** Registers all tools of the sources or, where any is at fault, none, with every issue in one SetupError. */
  register(sources: readonly ToolSource[], options?: RegisterOptions): Promise<void>
  /** Takes tools away from all tenants or from some; sessions that have them keep them. */
  remove(names: readonly string[], options?: RemoveOptions): Promise<void>
  /** Throws a SetupError where a tool cannot go to that state. */
  changeState(name: string, to: ToolState, change: StateChange): Promise<void>
  /** Lets a changed definition be used. Throws a SetupError where this one does not wait. */
  approve(name: string, approval: DefinitionApproval): Promise<void>
}

interface Core extends RegistryOptions {
  catalog: ToolCatalog
  statuses: ToolStatuses
  /** What the store knows of definitions. */
  pins: () => PinBook
  /** Sees what this or another process said of tools. */
  refresh(): void
  announce(note: RegistryNote): void
  /** Says that the tools are not the same any more. */
  changed(): void
}

type Telling = NonNullable<PlannedTool['tells']>

/** The changes of a registry. */
export function createRegistryChanges(core: Core): RegistryChanges {
  const { catalog, store, statuses } = core
  const { toolSets } = catalog
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
  const tell = ({ note, facts }: Telling): Promise<void> =>
    core.evidence.tell(toNoteRecord(note, core.now()), { facts })
  /** A runtime starts on a store that takes no records just now, too: what needs one says so itself. */
  const tellAtStart = async (told: readonly Telling[]): Promise<void> => {
    const results = await Promise.allSettled(told.map(tell))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) core.onError('', failed.reason)
  }
  const admit = async (registration: Registration, isLater: boolean): Promise<void> => {
    const planned = planAll(registration, isLater, core)
    const told = isLater ? planned.flatMap(({ tells }) => tells ?? []) : tellAtOnce(planned)
    if (isLater) await Promise.all(told.map(tell))
    else if (store.readOnly === undefined) await tellAtStart(told)
    for (const each of planned) catalog.place(each)
    catalog.keep(registration.leftOver)
    core.changed()
    core.refresh()
    // A program that starts knows of the tools that it brings itself.
    for (const { note } of told) if (isLater || note.event !== 'tool_registered') core.announce(note)
  }
  return {
    start: (registration) => inTurn(() => admit(registration, false)),
    register: (sources, options = {}) =>
      inTurn(() =>
        admit(prepareRegistration(sources, { ...core, toolSets, options, report: core.onReport }), true),
      ),
    remove: (names, { tenants = [allTenants], by = 'host' } = {}) =>
      inTurn(async () => {
        const leaving = tenants.flatMap((scope) => names.map((name) => ({ scope, name })))
        for (const { scope, name } of leaving) {
          const { byName } = toolSets.toolSet(scope)
          if (!byName.has(name)) throw unknownTool(name, byName.keys())
        }
        const pins = core.pins()
        const told = leaving.map(({ scope, name }) => ({
          note: toRemovalNote(name, scope, by),
          facts: keepGone(scope, name, pins),
        }))
        await Promise.all(told.map(tell))
        for (const { scope, name } of leaving) catalog.remove(scope, name)
        core.changed()
        for (const { note } of told) core.announce(note)
      }),
    changeState: (name, to, change) =>
      inTurn(async () => {
        checkStateChange(to, change)
        core.refresh()
        const { identity, initial } = findNamed(name, change.tenant, core)
        const saidIn = (scope: string): StateFact | undefined => {
          const fact = statuses.said(scope, name)
          return fact !== undefined && countsFor(fact, { identity, initial }) ? fact : undefined
        }
        const own = change.tenant === undefined ? undefined : saidIn(change.tenant)
        const said = { all: saidIn(allTenants), own, initial }
        const apart = statuses.apart(name)
        await tell(planStateChange({ name, identity, to, change, said, apart, at: core.now() }))
        core.refresh()
      }),
    approve: (name, approval) =>
      inTurn(async () => {
        await tell(planApproval(name, approval, core.pins()))
        core.refresh()
      }),
  }
}

/** What is told of tools at a start: of Handrail's own together by their source, of any other one by one. */
function tellAtOnce(planned: readonly PlannedTool[]): Telling[] {
  const told: Telling[] = []
  const together = new Map<string, Telling[]>()
  for (const { tells, entry, scope } of planned) {
    if (tells === undefined) continue
    const place = JSON.stringify([tells.note.event, scope, entry.source])
    if (isBuiltin(entry.tool)) together.set(place, [...(together.get(place) ?? []), tells])
    else told.push(tells)
  }
  for (const own of together.values()) told.push(tellTogether(own))
  return told
}

function tellTogether(own: readonly Telling[]): Telling {
  const notes = own.map(({ note }) => note)
  const facts = own.flatMap((each) => each.facts)
  return { note: joinNotes(notes), facts }
}

/** Throws a SetupError where a tool of the program does not keep to SemVer after what a store that outlives it keeps of its name. */
function planAll(
  { stagedTools, by }: Registration,
  isLater: boolean,
  { store, statuses, pins: readPins }: Core,
): PlannedTool[] {
  if (stagedTools.length === 0) return []
  const pins = readPins()
  const issues = store.durable ? stagedTools.flatMap((stagedTool) => judgeKnown(stagedTool, pins)) : []
  if (issues.length > 0)
    throw refusal(issues, ` after what is kept of ${issues.length === 1 ? 'it' : 'them'} in the store`)
  return stagedTools.map((stagedTool) => {
    const { scope, replaces } = stagedTool
    const isHeld = replaces !== undefined && statuses.isHeld(scope, replaces)
    return planTool(stagedTool, { pins, by, isLater, isHeld })
  })
}

/** The tool of this name, and where it stands until its state is set. Perhaps only another process has it. */
function findNamed(
  name: string,
  tenant: string | undefined,
  { catalog, pins }: Core,
): Pick<Entry, 'identity' | 'initial'> {
  const scopes = tenant === undefined ? [allTenants] : [tenant, allTenants]
  const shelved = scopes.map((scope) => catalog.toolSets.toolSet(scope).byName)
  const entry = shelved.map((byName) => byName.get(name)).find((each) => each !== undefined)
  if (entry !== undefined) return entry
  const known = pins()
  const pin = scopes.map((scope) => known.find(scope, name)).find((each) => each !== undefined)
  if (pin !== undefined) return { identity: pin.identity, initial: pin.state ?? 'enabled' }
  throw unknownTool(name, [
    ...shelved.flatMap((byName) => [...byName.keys()]),
    ...scopes.flatMap((scope) => known.names(scope)),
  ])
}

function unknownTool(name: string, known: Iterable<string>): SetupError {
  const nearest = nearestNames(name, new Set(known)).map((near) => `"${near}"`)
  const advice = nearest.length === 0 ? '' : ` Did you mean ${nearest.join(', ')}?`
  return new SetupError('unknown_tool', `There is no tool "${name}" here.${advice}`)
}
