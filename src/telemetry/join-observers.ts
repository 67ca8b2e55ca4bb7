import type { Call } from '../contract/base/call.ts'
import type { CallObserver } from '../contract/telemetry.ts'
import { tellWatcher } from '../kit/time/tell-watcher.ts'

type OnError = (about: { call: string; tool: string; cause: unknown }) => void

/** One observer in front of all; undefined if there is none. What one throws is told to `onError` and stays there. */
export function joinObservers(
  observers: readonly CallObserver[],
  onError: OnError,
): CallObserver | undefined {
  if (observers.length === 0) return undefined
  const tell = (call: Call, tellOne: (observer: CallObserver) => void): void => {
    for (const observer of observers)
      tellWatcher(tellOne, observer, (cause) => onError({ call: call.id, tool: String(call.tool), cause }))
  }
  return {
    began: (call) => tell(call, (observer) => observer.began(call)),
    enters: (call, stage) => tell(call, (observer) => observer.enters(call, stage)),
    within(call, run) {
      const once = createOnce(run)
      const outermost = observers.reduce<() => void>(
        (inner, observer) => () => observer.within(call, inner),
        () => once.run(),
      )
      try {
        outermost()
      } catch (cause) {
        // What the tool's own step threw is thrown below, as if no observer watched.
        if (!once.threw) onError({ call: call.id, tool: String(call.tool), cause })
      }
      return once.run()
    },
    ended: (call, result, facts) => tell(call, (observer) => observer.ended(call, result, facts)),
  }
}

/** Runs at most once, however often observers ask; returns or throws the same each time. */
function createOnce<T>(run: () => T) {
  let outcome: { value: T } | { thrown: unknown } | undefined
  return {
    get threw() {
      return outcome !== undefined && 'thrown' in outcome
    },
    run(): T {
      if (outcome === undefined) {
        try {
          outcome = { value: run() }
        } catch (thrown) {
          outcome = { thrown }
        }
      }
      if ('thrown' in outcome) throw outcome.thrown
      return outcome.value
    },
  }
}
