import type { AgentRun, StoredRun } from '../../contract/agent-run.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { priceOf, type Prices } from '../../config/prices.ts'
import type { Redactor } from '../../kit/secrets/redact.ts'
import { findRun } from '../arguments/find-run.ts'
import { showLine } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'
import { findKeptModel, keepModel, type KeptModel } from '../model/kept-model.ts'
import { loadModel, type LoadedModel } from '../model/load-model.ts'
import type { ModelName } from '../../config/base/model-name.ts'
import { readModelName } from '../model/read-model-name.ts'
import { readInstructions } from '../setup/read-instructions.ts'
import type { RunLine } from './read-run-line.ts'

/** What a run of the command line stands on. */
export interface RunGround {
  readonly runtime: Runtime
  readonly line: RunLine
  readonly prices: Prices
  readonly signal: AbortSignal
  readonly redactor: Redactor
  /** Whether the run waits for a person. */
  readonly wait: boolean
}

/** Starts a run, or goes on with one. Throws a UsageError or a SetupError if what the command line says cannot be done. */
export async function startRun(ground: RunGround): Promise<{ run: AgentRun; kept: Promise<void> }> {
  const { runtime, line, prices, signal, redactor, wait } = ground
  const { resume, caller, session, prompt, task } = line
  const before = resume && findRun(runtime.runs, { text: resume, tenant: caller.tenant })
  const { name, loaded, baseUrl } = await findModel(ground, before || undefined)
  const { model, file } = loaded
  const price = priceOf(prices, name.text)
  const run = await runtime.run({
    ...task,
    model,
    signal,
    wait,
    ...(prompt !== undefined && { prompt }),
    ...(before && { resume: before.id }),
    ...(price !== undefined && { price }),
    instructions: instructionsOf(runtime.project, redactor),
    session: {
      ...caller,
      // As a no at the terminal would be one to what a consent permits.
      ...(line.approve === 'deny' && { standingConsents: false }),
      ...(session !== undefined && { id: session }),
    },
  })
  process.stderr.write(`${showLine(`handrail: ${run.id} with ${name.text}, by ${file}`)}\n`)
  const about = { id: run.id, tenant: caller.tenant ?? 'local' }
  return { run, kept: keepModel(runtime, about, { model: name.text, ...(baseUrl && { baseUrl }) }) }
}

interface FoundModel {
  readonly name: ModelName
  readonly loaded: LoadedModel
  readonly baseUrl: string | undefined
}

/** The model that the command line names, else that of the run before. A server of its own goes with the model that it was named with. */
async function findModel({ runtime, line }: RunGround, before: StoredRun | undefined): Promise<FoundModel> {
  const kept: KeptModel | undefined = before && findKeptModel(runtime, before)
  if (line.model === undefined && kept === undefined)
    throw new UsageError(
      `A program started the run "${before?.id ?? ''}", so its model is not known here. Name it with --model.`,
    )
  const name = line.model ?? readModelName(kept?.model ?? '')
  const baseUrl = line.baseUrl ?? (name.text === kept?.model ? kept.baseUrl : undefined)
  return {
    name,
    baseUrl,
    loaded: await loadModel(name, { project: runtime.project, trustsProject: line.trustsProject, baseUrl }),
  }
}

function instructionsOf(project: string, redactor: Redactor): string[] {
  const { texts, notices } = readInstructions(project)
  for (const notice of notices) process.stderr.write(`handrail: ${showLine(notice)}\n`)
  return texts.map((text) => redactor.text(text))
}
