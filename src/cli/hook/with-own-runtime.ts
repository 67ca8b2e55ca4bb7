import type { Runtime } from '../../contract/runtime.ts'
import { wireRuntime, type Places } from '../setup/wire.ts'

/** Runs something with a runtime of these places. Rejects as `run` does, or if there can be no such runtime. */
export type WithRuntime = <Result>(
  places: Places,
  run: (runtime: Runtime) => Promise<Result>,
) => Promise<Result>

/** With a runtime for this alone. */
export const withOwnRuntime: WithRuntime = async (places, run) => {
  const runtime = await wireHook(places)
  try {
    return await run(runtime)
  } finally {
    await runtime.close()
  }
}

/** Makes the runtime of a hook. */
export function wireHook(places: Places): Promise<Runtime> {
  return wireRuntime(places, undefined, { observes: true })
}
