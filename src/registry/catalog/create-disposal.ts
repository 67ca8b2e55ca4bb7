import type { RegistryView } from '../../contract/registry.ts'
import { withinMs } from '../../kit/time/within-ms.ts'
import type { Entry } from '../state/to-entry.ts'

/** Ends tools, each once, when no session can call it any more. */
export interface Disposal {
  /** Keeps every tool of a view from being ended until the function is called. */
  hold(view: RegistryView): () => void
  /** Ends a tool as soon as no held view shows it. */
  retire(entry: Entry): void
  /** Ends these and all that were retired, and waits for it. */
  close(entries: Iterable<Entry>): Promise<void>
}

interface DisposalOptions {
  /** A `dispose` that takes longer is not waited for. */
  timeoutMs: number
  /** Whether a tool is still registered, perhaps elsewhere. */
  isRegistered: (entry: Entry) => boolean
  onError: (tool: string, cause: unknown) => void
}

/** Nothing is ended yet. */
export function createDisposal({ timeoutMs, isRegistered, onError }: DisposalOptions): Disposal {
  const held = new Map<RegistryView, number>()
  const retired = new Set<Entry>()
  const ended = new WeakSet<object>()
  const ending = new Set<Promise<void>>()

  const end = (entry: Entry): void => {
    const { tool, definition } = entry
    if (tool.dispose === undefined || ended.has(tool)) return
    ended.add(tool)
    const work = endInTime(entry, timeoutMs).catch((cause: unknown) => onError(definition.name, cause))
    ending.add(work)
    void work.then(() => ending.delete(work))
  }
  const isShown = (entry: Entry): boolean =>
    [...held.keys()].some((view) => view.find(entry.definition.name) === entry)
  const sweep = (): void => {
    for (const entry of retired) {
      if (isShown(entry)) continue
      retired.delete(entry)
      if (!isRegistered(entry)) end(entry)
    }
  }
  return {
    hold(view) {
      held.set(view, (held.get(view) ?? 0) + 1)
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        const left = (held.get(view) ?? 1) - 1
        if (left > 0) held.set(view, left)
        else held.delete(view)
        if (retired.size > 0) sweep()
      }
    },
    retire(entry) {
      if (entry.tool.dispose === undefined) return
      retired.add(entry)
      sweep()
    },
    async close(entries) {
      for (const entry of [...retired, ...entries]) end(entry)
      retired.clear()
      await Promise.all(ending)
    },
  }
}

async function endInTime({ tool, definition }: Entry, timeoutMs: number): Promise<void> {
  if (await withinMs(Promise.resolve(tool.dispose?.()), timeoutMs)) return
  throw new Error(
    `dispose of "${definition.name}" did not end within ${timeoutMs} ms and is not waited for any longer`,
  )
}
