/** Keyed calls of this process that are on the road and not ended, so that duplicates wait for them. */
export interface RunningCalls {
  start(key: string, call: string): void
  /** The call that is on the road with this key, and when it has ended and is recorded. */
  find(key: string): { readonly call: string; readonly ended: Promise<void> } | undefined
  end(call: string): void
}

/** No calls yet. */
export function createRunningCalls(): RunningCalls {
  const byKey = new Map<string, { call: string; ended: Promise<void> }>()
  const byCall = new Map<string, { key: string; resolve: () => void }>()
  return {
    start(key, call) {
      let resolve = () => {}
      const ended = new Promise<void>((done) => (resolve = done))
      byKey.set(key, { call, ended })
      byCall.set(call, { key, resolve })
    },
    find: (key) => byKey.get(key),
    end(call) {
      const running = byCall.get(call)
      if (running === undefined) return
      byCall.delete(call)
      if (byKey.get(running.key)?.call === call) byKey.delete(running.key)
      running.resolve()
    },
  }
}
