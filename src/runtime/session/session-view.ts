import type { Face } from '../../contract/base/call.ts'
import type { FacedTool, Registered, RegistryView, ToolStanding } from '../../contract/registry.ts'
import type { Ground } from '../state/ground.ts'

/** Where a session gets its tools from. */
export interface ViewSeed {
  /** The ground that calls start on now. */
  ground(): Ground
  principal: { readonly tenant: string }
  /** The tools of now, kept alive until they are released. */
  lease(): { readonly view: RegistryView; release(): void }
  /** Why a tool is not in the effective set on this ground; undefined when it is. */
  exclusion(registered: Registered, ground: Ground): string | undefined
  /** Has another version as soon as another exclusion may come out on the same ground. */
  readonly restrictions: { readonly version: number }
  /** The session that opened this one. */
  parent: Pick<SessionView, 'exclusion' | 'edition'> | undefined
  /** How a tool looks under a face. */
  face(registered: Registered, about: { face: Face; standing: ToolStanding }): FacedTool
}

/**
 * The tools of a session. It keeps the definitions and implementations that it started with until it is refreshed; where a tool stands,
 * and what the policy leaves of the set, is as of now.
 */
export interface SessionView {
  find(name: string, face: Face): Registered | undefined
  /** Why a tool cannot be called here; undefined if it can. */
  exclusion(registered: Registered): string | undefined
  /** Another value as soon as an exclusion may be another one. */
  edition(): number
  /** Where a tool stood when it was last looked for. */
  standing(registered: Registered): ToolStanding
  names(): Iterable<string>
  /** Every tool, callable or not. */
  all(): readonly Registered[]
  tools(face: Face): readonly FacedTool[]
  /** Takes the tools of now; calls that run keep theirs. */
  refresh(): void
  /** Nothing runs: tools of before the last refresh are not needed any more. */
  rest(): void
  close(): void
}

interface Looked {
  readonly exclusion: string | undefined
  readonly standing: ToolStanding
}

/** The tools of now. */
export function createSessionView(seed: ViewSeed): SessionView {
  const { tenant } = seed.principal
  let ground = seed.ground()
  const { registry } = ground
  let lease = seed.lease()
  const earlier: ReturnType<ViewSeed['lease']>[] = []
  let version = -1
  let above = -1
  let edition = 0
  let restricted = -1
  const looked = new Map<Registered, Looked>()
  const faced = new Map<Face, readonly FacedTool[]>()

  const forget = (): void => {
    edition++
    looked.clear()
    faced.clear()
  }
  const lookAgain = (): void => {
    const now = seed.ground()
    const latest = registry.version()
    const narrowed = seed.restrictions.version
    const parent = seed.parent?.edition() ?? 0
    if (now === ground && latest === version && narrowed === restricted && parent === above) return
    ground = now
    version = latest
    above = parent
    restricted = narrowed
    forget()
  }
  const excludes = (registered: Registered, standing: ToolStanding): string | undefined =>
    standing.blocked ??
    (registered.tool.unavailable === undefined ? undefined : 'tool_not_available') ??
    seed.parent?.exclusion(registered) ??
    seed.exclusion(registered, ground)
  const look = (registered: Registered): Looked => {
    let found = looked.get(registered)
    if (found === undefined) {
      const standing = registry.standing(registered, tenant)
      looked.set(registered, (found = { exclusion: excludes(registered, standing), standing }))
    }
    return found
  }
  /** Keeps nothing of them: there may be thousands of tools in each of many sessions, few of which are ever called. */
  const listed = <T>(show: (registered: Registered, standing: ToolStanding) => T): T[] => {
    const shown: T[] = []
    for (const registered of lease.view.list()) {
      const standing = registry.standing(registered, tenant)
      if (standing.outage === undefined && excludes(registered, standing) === undefined)
        shown.push(show(registered, standing))
    }
    return shown
  }
  const rest = (): void => {
    for (const each of earlier.splice(0)) each.release()
  }
  return {
    find(name, face) {
      const { view } = lease
      if (face !== 'familiar') return view.find(name)
      return view.findFamiliar(name) ?? view.find(name) ?? findByAlias(name, view.list())
    },
    exclusion(registered) {
      lookAgain()
      return look(registered).exclusion
    },
    edition() {
      lookAgain()
      return edition
    },
    standing: (registered) => look(registered).standing,
    all: () => lease.view.list(),
    *names() {
      lookAgain()
      yield* listed(({ definition }) => definition.name)
    },
    tools(face) {
      lookAgain()
      let list = faced.get(face)
      if (list === undefined) {
        list = listed((registered, standing) => seed.face(registered, { face, standing }))
        faced.set(face, list)
      }
      return list
    },
    refresh() {
      earlier.push(lease)
      lease = seed.lease()
      forget()
    },
    rest,
    close() {
      rest()
      lease.release()
    },
  }
}

function findByAlias(name: string, tools: readonly Registered[]): Registered | undefined {
  return tools.find(({ tool }) => tool.familiar?.aliases?.some((alias) => alias.name === name))
}
