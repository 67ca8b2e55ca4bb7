/** One signal for all that there are; undefined if there is none. */
export function joinSignals(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  let joined: AbortSignal | undefined
  for (const signal of signals) {
    if (signal === undefined || signal === joined) continue
    joined = joined === undefined ? signal : AbortSignal.any([joined, signal])
  }
  return joined
}
