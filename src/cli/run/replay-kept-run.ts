import { replayAgentRun, type AgentReplay } from '../../compose/replay/agent/replay-agent-run.ts'
import type { RuntimeOptions } from '../../compose/options/runtime-options.ts'
import type { StoredRun } from '../../contract/agent-run.ts'
import type { Store } from '../../contract/store.ts'
import { createRedactor } from '../../kit/secrets/redact.ts'
import { findKeptModel } from '../model/kept-model.ts'
import { presentKeyNames } from '../model/provider-keys.ts'
import { readInstructions } from '../setup/read-instructions.ts'
import { wireSimulation } from '../setup/wire-simulation.ts'
import { readEnvironment, type Places } from '../setup/wire.ts'

interface Asked {
  readonly places: Places
  readonly runtime: RuntimeOptions
  /** Another text for how the agent works. */
  readonly system?: string
}

/** Runs a run once more on what was recorded, told what `handrail run` tells. */
export function replayKeptRun(
  store: Store,
  { id, tenant }: Pick<StoredRun, 'id' | 'tenant'>,
  { places, runtime, system }: Asked,
): Promise<AgentReplay> {
  return replayAgentRun({
    store,
    run: id,
    tenant,
    runtime,
    task: {
      // What a program tells its runs is not known here.
      ...(findKeptModel({ store }, { id, tenant }) && { instructions: readTold(places) }),
      ...(system !== undefined && { system }),
    },
  })
}

/** What replays runs of a store, by the policy that stands in the home folder. */
export function createReplayer(store: Store, places: Places) {
  return async (id: string, tenant: string): Promise<AgentReplay> =>
    replayKeptRun(store, { id, tenant }, { places, runtime: await wireSimulation(places) })
}

/** The instructions of the project, as `handrail run` tells them. */
function readTold({ project }: Places): string[] {
  const redactor = createRedactor(presentKeyNames().map((name) => readEnvironment(name) ?? ''))
  return readInstructions(project).texts.map((text) => redactor.text(text))
}
