/**
 * Starts a clock that says for how many milliseconds this process has computed since. It stands while others have the processor, so
 * that a bound on it holds on a busy machine too.
 */
export function startProcessorClock(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
}
