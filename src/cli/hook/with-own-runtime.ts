import { agentTools, type AgentTool } from '../../compose/sources/agent-tools.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { wireRuntime, type Places } from '../setup/wire.ts'

/** What the runtime of a hook is made of. */
export interface HookWiring {
  readonly places: Places
  /** Tools of the agent's own that the message is about. */
  readonly tools: readonly AgentTool[]
}

/** Runs something with a runtime that is made of this. Rejects as `run` does, or if there can be no such runtime. */
export type WithRuntime = <Result>(
  wiring: HookWiring,
  run: (runtime: Runtime) => Promise<Result>,
) => Promise<Result>

/** With a runtime for this alone. */
export const withOwnRuntime: WithRuntime = async (wiring, run) => {
  const runtime = await wireHook(wiring)
  try {
    return await run(runtime)
  } finally {
    await runtime.close()
  }
}

/** Makes the runtime of a hook. */
export function wireHook({ places, tools }: HookWiring): Promise<Runtime> {
  return wireRuntime(places, undefined, { agent: agentTools(tools) })
}
