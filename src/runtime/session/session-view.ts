import type { Presentation, SessionModel } from '../../contract/base/call.ts'
import type { PresentedTool, Registered, RegistryView, ToolStatus } from '../../contract/registry.ts'
import type { ToolsOptions } from '../../contract/runtime.ts'
import type { TenantContext } from '../state/scope.ts'
import { arrangeTools } from './arrange-tools.ts'
import type { FoundTools } from '../state/session-book.ts'
import type { SessionMode } from '../state/session-mode.ts'

/** Where a session gets its tools from. */
export interface ViewSeed {
  /** The context that calls start with now. */
  tenant(): TenantContext
  principal: { readonly tenant: string }
  /** The tools of now, kept alive until they are released. */
  lease(): { readonly view: RegistryView; release(): void }
  /** Why a tool is not in the effective set in this context; undefined if it is. */
  exclusion(registered: Registered, tenant: TenantContext): string | undefined
  /** Whether a tool works with the model of a call. */
  fits(registered: Registered, model: SessionModel): boolean
  readonly mode: Pick<SessionMode, 'current'>
  /** Has another version as soon as another exclusion may come out in the same context. */
  readonly restrictions: { readonly version: number }
  /** The deferred tools that searches of this session found. */
  readonly found: Pick<FoundTools, 'read'>
  /** The session that opened this one. */
  parent: Pick<SessionView, 'exclusion' | 'edition'> | undefined
  /** How a tool looks in a presentation. */
  presentation(
    registered: Registered,
    about: { presentation: Presentation; status: ToolStatus },
  ): PresentedTool
}

/**
 * The tools of a session. It keeps the definitions and implementations that it started with until it is refreshed; where a tool stands,
 * and what the policy leaves of the set, is as of now.
 */
export interface SessionView {
  find(name: string, presentation: Presentation): Registered | undefined
  /** Why a tool cannot be called here; undefined if it can. */
  exclusion(registered: Registered, model?: SessionModel): string | undefined
  /** Another value as soon as an exclusion may be another one. */
  edition(): number
  /** Where a tool stood when it was last looked for. */
  status(registered: Registered): ToolStatus
  names(model?: SessionModel): Iterable<string>
  /** Every tool, callable or not. */
  all(): readonly Registered[]
  /** What models are shown: deferred tools only if they were found, behind the others. With `all`, each in its place. */
  tools(options: Omit<ToolsOptions, 'shared'>): readonly PresentedTool[]
  /** The deferred tools that can be called here and have one of the words, the best first. */
  search(words: string): Iterable<Registered>
  /** Takes the tools of now; calls that run keep theirs. */
  refresh(): void
  /** Nothing runs: tools of before the last refresh are not needed any more. */
  rest(): void
  close(): void
}

interface Looked {
  readonly exclusion: string | undefined
  readonly status: ToolStatus
}

/** The tools of now. */
export function createSessionView(seed: ViewSeed): SessionView {
  const { tenant } = seed.principal
  const basis = createBasis(seed)
  const { registry } = basis.context()
  const leases = createLeases(seed)
  let edition = 0
  const looked = new Map<Registered, Looked>()
  const presented = createPresented(seed, (show) => listed(show))

  const forget = (): void => {
    edition++
    looked.clear()
    presented.clear()
  }
  const lookAgain = (): void => {
    if (basis.changed()) forget()
  }
  const excludes = (registered: Registered, status: ToolStatus): string | undefined =>
    status.blocked ??
    (registered.tool.unavailable === undefined ? undefined : 'tool_not_available') ??
    seed.parent?.exclusion(registered) ??
    seed.exclusion(registered, basis.context())
  const mayCall = (registered: Registered, status = registry.status(registered, tenant)): boolean =>
    status.outage === undefined && excludes(registered, status) === undefined
  const look = (registered: Registered): Looked => {
    let found = looked.get(registered)
    if (found === undefined) {
      const status = registry.status(registered, tenant)
      looked.set(registered, (found = { exclusion: excludes(registered, status), status }))
    }
    return found
  }
  /** Keeps nothing of them: there may be thousands of tools in each of many sessions, few of which are ever called. */
  const listed = <T>(show: (registered: Registered, status: ToolStatus) => T): T[] => {
    const shown: T[] = []
    for (const registered of leases.view().list()) {
      const status = registry.status(registered, tenant)
      if (mayCall(registered, status)) shown.push(show(registered, status))
    }
    return shown
  }
  return {
    find(name, presentation) {
      const view = leases.view()
      if (presentation !== 'compatible') return view.find(name)
      return view.findCompatible(name) ?? view.find(name) ?? findByAlias(name, view.list())
    },
    exclusion(registered, model) {
      lookAgain()
      const { exclusion } = look(registered)
      if (exclusion !== undefined || model === undefined) return exclusion
      return seed.fits(registered, model) ? undefined : 'model_denied'
    },
    edition() {
      lookAgain()
      return edition
    },
    status: (registered) => look(registered).status,
    all: () => leases.view().list(),
    *names(model) {
      lookAgain()
      const fits = (registered: Registered): boolean => model === undefined || seed.fits(registered, model)
      yield* listed((registered) => registered).flatMap((each) => (fits(each) ? [each.definition.name] : []))
    },
    tools(options) {
      lookAgain()
      return presented.get(options)
    },
    *search(words) {
      lookAgain()
      for (const registered of leases.view().search(words)) if (mayCall(registered)) yield registered
    },
    refresh() {
      leases.renew()
      forget()
    },
    rest: () => leases.rest(),
    close: () => leases.close(),
  }
}

type Listed = <T>(show: (registered: Registered, status: ToolStatus) => T) => T[]

/** What models are shown, made when it is first asked for. */
function createPresented(seed: ViewSeed, listed: Listed) {
  const made = new Map<string, readonly PresentedTool[]>()
  return {
    get({ presentation = 'canonical', all = false, model }: ToolsOptions): readonly PresentedTool[] {
      const key = JSON.stringify([presentation, all, model?.provider, model?.name])
      const known = made.get(key)
      if (known !== undefined) return known
      const callable = listed((registered, status) => ({
        registered,
        tool: seed.presentation(registered, { presentation, status }),
      })).filter(({ registered }) => model === undefined || seed.fits(registered, model))
      const list = arrangeTools(callable, { all, found: seed.found.read() })
      made.set(key, list)
      return list
    },
    clear: () => made.clear(),
  }
}

/** What exclusions depend on, as of the last look. */
function createBasis(seed: ViewSeed) {
  let context = seed.tenant()
  let version = -1
  let above = -1
  let restricted = -1
  let found = seed.found.read()
  let mode = seed.mode.current()
  return {
    context: () => context,
    /** Looks again. Returns whether an exclusion may come out another way. */
    changed(): boolean {
      const now = seed.tenant()
      const latest = now.registry.version()
      const narrowed = seed.restrictions.version
      const parent = seed.parent?.edition() ?? 0
      const current = seed.mode.current()
      const foundNow = seed.found.read()
      const isSame = now === context && latest === version && narrowed === restricted
      if (isSame && parent === above && current === mode && foundNow === found) return false
      context = now
      version = latest
      above = parent
      restricted = narrowed
      mode = current
      found = foundNow
      return true
    },
  }
}

/** The definitions and implementations that a session started with, kept alive with those that its running calls still use. */
function createLeases(seed: Pick<ViewSeed, 'lease'>) {
  let lease = seed.lease()
  const earlier: (typeof lease)[] = []
  const rest = (): void => {
    for (const each of earlier.splice(0)) each.release()
  }
  return {
    view: () => lease.view,
    renew() {
      earlier.push(lease)
      lease = seed.lease()
    },
    rest,
    close() {
      rest()
      lease.release()
    },
  }
}

function findByAlias(name: string, tools: readonly Registered[]): Registered | undefined {
  return tools.find(({ tool }) => tool.compatible?.aliases?.some((alias) => alias.name === name))
}
