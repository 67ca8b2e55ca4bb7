import type { PresentedTool } from '../../../contract/registry.ts'
import type { Runtime } from '../../../contract/runtime.ts'
import { toWireNames, type WireNames } from '../../translate/wire-names.ts'
import { toForm, toListJson, type ListForm, type ListJson } from './list-json.ts'
import type { ReadyJson } from './ready-json.ts'

/** What was made of tools that were asked for lately. */
interface ToolList {
  readonly names: WireNames
  readonly json: Map<ListForm, ListJson>
  /** Of the registry, when it was asked for last. */
  version: number
}

/**
 * By runtime, the latest first. Most clients have the same tools, and share what is made of these; which tools a client has, its session
 * alone says. No session keeps a text itself, as it may stay behind for long.
 */
const lately = new WeakMap<Runtime, readonly ToolList[]>()

/** So many kinds of clients can take turns without anything being made twice. */
const maxLists = 4

/** The names of these tools: the same object for the same tools. */
export function shareNames(runtime: Runtime, tools: readonly PresentedTool[]): WireNames {
  const isKnown = ({ names }: ToolList): boolean => areSame(names.tools, tools)
  return findOrMake(runtime, isKnown, () => toWireNames(tools)).names
}

/** The tools of these names as `tools/list` shows them. */
export function shareJson(runtime: Runtime, names: WireNames, form: ListForm): ReadyJson {
  const { json } = findOrMake(
    runtime,
    (list) => list.names === names,
    () => names,
  )
  let made = json.get(form)
  if (made === undefined) {
    const [other] = json.values()
    json.set(form, (made = other === undefined ? toListJson(names, form) : toForm(other, form)))
  }
  return made.json
}

/** The list that is known, or else a new one in the place of those that no client asked for since tools changed. */
function findOrMake(runtime: Runtime, isKnown: (list: ToolList) => boolean, make: () => WireNames): ToolList {
  const version = runtime.registry.version()
  const lists = lately.get(runtime) ?? []
  const known = lists.find(isKnown)
  const taken = known ?? { names: make(), json: new Map(), version }
  taken.version = version
  const others = lists.filter((list) => list !== taken && (known !== undefined || list.version === version))
  if (taken !== lists[0]) lately.set(runtime, [taken, ...others].slice(0, maxLists))
  return taken
}

/** A tool that did not change is mostly the same object. */
function areSame(some: readonly PresentedTool[], others: readonly PresentedTool[]): boolean {
  const isSame = (tool: PresentedTool, at: number): boolean =>
    tool === others[at] || JSON.stringify(tool) === JSON.stringify(others[at])
  return some === others || (some.length === others.length && some.every(isSame))
}
