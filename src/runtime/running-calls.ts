/** Keyed calls of this process that have begun and not ended, so that duplicates wait for them. */
export interface RunningCalls {
  start(key: string, call: string): void
  /** Resolves when that call has ended and is recorded. Undefined when it does not run here. */
  find(key: string, call: string): Promise<void> | undefined
  end(call: string): void
}

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
    find(key, call) {
      const running = byKey.get(key)
      return running?.call === call ? running.ended : undefined
    },
    end(call) {
      const running = byCall.get(call)
      if (running === undefined) return
      byCall.delete(call)
      if (byKey.get(running.key)?.call === call) byKey.delete(running.key)
      running.resolve()
    },
  }
}
