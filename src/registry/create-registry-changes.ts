import { SetupError } from '../contract/errors.ts'
import type {
  DefinitionApproval,
  RegisterOptions,
  RemoveOptions,
  StateChange,
  ToolState,
} from '../contract/registry.ts'
import type { ToolSource } from '../contract/tool.ts'
import { nearestNames } from '../kit/nearest-names.ts'
import { planApproval } from './approve-definition.ts'
import type { Standings } from './create-standings.ts'
import type { Stock } from './create-stock.ts'
import { planAdmission, type PlannedAdmission } from './plan-admission.ts'
import { checkStateChange, planStateChange } from './plan-state-change.ts'
import { prepareRegistration, type Registration } from './prepare-registration.ts'
import { toNoteRecord, toRemovalNote, type RegistryNote } from './registry-note.ts'
import type { RegistryOptions } from './registry-options.ts'
import type { Entry } from './to-entry.ts'
import { allTenants, keepGone, type PinBook } from './tool-facts.ts'

/** What can be changed. One change is made after the other; each resolves when it is durable and holds. */
export interface RegistryChanges {
  /** Registers what was prepared before there was a store. */
  start(registration: Registration): Promise<void>
  /** Registers all tools of the sources or, where any is at fault, none, with every fault in one SetupError. */
  register(sources: readonly ToolSource[], options?: RegisterOptions): Promise<void>
  /** Takes tools away from all tenants or from some; sessions that have them keep them. */
  remove(names: readonly string[], options?: RemoveOptions): Promise<void>
  /** Throws a SetupError where a tool cannot go to that state. */
  changeState(name: string, to: ToolState, change: StateChange): Promise<void>
  /** Lets a changed definition be used. Throws a SetupError where this one does not wait. */
  approve(name: string, approval: DefinitionApproval): Promise<void>
}

interface Core extends RegistryOptions {
  stock: Stock
  standings: Standings
  /** What the store knows of definitions. */
  pins: () => PinBook
  /** Sees what this or another process said of tools. */
  refresh(): void
  announce(note: RegistryNote): void
  /** Says that the tools are not the same any more. */
  changed(): void
}

type Telling = NonNullable<PlannedAdmission['tells']>

/** The changes of a registry. */
export function createRegistryChanges(core: Core): RegistryChanges {
  const { stock, store, standings } = core
  const { shelves } = stock
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
    if (failed !== undefined) core.onFault('', failed.reason)
  }
  const admit = async (registration: Registration, isLater: boolean): Promise<void> => {
    const planned = planAll(registration, isLater, core)
    const told = planned.map(({ tells }) => tells).filter((tells) => tells !== undefined)
    if (isLater) await Promise.all(told.map(tell))
    else if (store.readOnly === undefined) await tellAtStart(told)
    for (const each of planned) stock.place(each)
    stock.keep(registration.leftOver)
    core.changed()
    core.refresh()
    for (const { note } of told) core.announce(note)
  }
  return {
    start: (registration) => inTurn(() => admit(registration, false)),
    register: (sources, options = {}) =>
      inTurn(() =>
        admit(prepareRegistration(sources, { ...core, shelves, options, report: core.onReport }), true),
      ),
    remove: (names, { tenants = [allTenants], by = 'host' } = {}) =>
      inTurn(async () => {
        const leaving = tenants.flatMap((scope) => names.map((name) => ({ scope, name })))
        for (const { scope, name } of leaving) {
          const { byName } = shelves.shelf(scope)
          if (!byName.has(name)) throw unknownTool(name, byName.keys())
        }
        const pins = core.pins()
        const told = leaving.map(({ scope, name }) => ({
          note: toRemovalNote(name, scope, by),
          facts: keepGone(scope, name, pins),
        }))
        await Promise.all(told.map(tell))
        for (const { scope, name } of leaving) stock.remove(scope, name)
        core.changed()
        for (const { note } of told) core.announce(note)
      }),
    changeState: (name, to, change) =>
      inTurn(async () => {
        checkStateChange(to, change)
        core.refresh()
        const all = standings.said(allTenants, name)
        const own = change.tenant === undefined ? undefined : standings.said(change.tenant, name)
        const initial = findInitial(name, change.tenant, core)
        const said = { all, own, initial }
        const apart = standings.apart(name)
        await tell(planStateChange({ name, to, change, said, apart, at: core.now() }))
        core.refresh()
      }),
    approve: (name, approval) =>
      inTurn(async () => {
        await tell(planApproval(name, approval, core.pins()))
        core.refresh()
      }),
  }
}

/**
 * The tools that a runtime is made with are kept where the store outlives it, and not those that come with Handrail: their version is
 * Handrail's. What comes from outside is pinned in any case.
 */
function planAll(
  { admissions, by }: Registration,
  isLater: boolean,
  { store, standings, pins: readPins }: Core,
): PlannedAdmission[] {
  const isKept = ({ pinned, kind }: Entry) => isLater || pinned || (kind !== 'builtin' && store.durable)
  const pins = admissions.some(({ entry }) => isKept(entry)) ? readPins() : undefined
  return admissions.map((admission) => {
    if (pins === undefined || !isKept(admission.entry))
      return { ...admission, goes: 'in-force', changed: [], tells: undefined }
    const { scope, replaces } = admission
    const isHeld = replaces !== undefined && standings.isHeld(scope, replaces)
    return planAdmission(admission, { pins, by, isLater, isHeld })
  })
}

/** Where a tool stands until somebody says otherwise. Another process may have it alone. */
function findInitial(name: string, tenant: string | undefined, { stock, pins }: Core): Entry['initial'] {
  const scopes = tenant === undefined ? [allTenants] : [tenant, allTenants]
  const shelved = scopes.map((scope) => stock.shelves.shelf(scope).byName)
  const entry = shelved.map((byName) => byName.get(name)).find((each) => each !== undefined)
  if (entry !== undefined) return entry.initial
  const known = pins()
  const pin = scopes.map((scope) => known.find(scope, name)).find((each) => each !== undefined)
  if (pin !== undefined) return pin.state ?? 'enabled'
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
