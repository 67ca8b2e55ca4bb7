import type { RunResult } from '../../contract/agent-run.ts'
import { loadPrices } from '../../config/prices.ts'
import { SetupError } from '../../contract/base/errors.ts'
import { createRedactor } from '../../kit/secrets/redact.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { callerOptions } from '../arguments/caller.ts'
import { aboutRuns } from '../arguments/find-run.ts'
import type { Command } from '../base/command.ts'
import { exitCodeOfRun } from '../base/exit-codes.ts'
import { showLine, writeJson } from '../base/show-safely.ts'
import { namedModels } from '../model/agent-model.ts'
import { loadModel } from '../model/load-model.ts'
import { presentKeyNames } from '../model/provider-keys.ts'
import { modelNameForm } from '../../config/base/model-name.ts'
import { describeEnd } from '../run/describe-end.ts'
import { openTalk, type Talk } from '../run/open-talk.ts'
import { readRunLine } from '../run/read-run-line.ts'
import { showRun } from '../run/show-run.ts'
import { startRun, type RunGround } from '../run/start-run.ts'
import { findPlaces, readEnvironment, wireRuntime } from '../setup/wire.ts'
import { listenForStop, type StopSignal } from '../terminal/stop-signal.ts'
import { openTerminal } from '../terminal/terminal.ts'

/** `handrail run` */
export const run: Command = {
  usage: '["<task>" | -]',
  summary: 'Lets a language model work on a task with your tools.',
  more: `${modelNameForm} Without a terminal the run ends when a call waits for a person, and --resume goes on. ${aboutRuns} prices.json in the home says what a million tokens of a model cost, such as {"openai/gpt-5": {"input": 1.25, "output": 10}}. Exit codes: 0 completed, 1 failed, 4 a call waits for a person, 5 turns or a budget used up, 130 aborted.`,
  options: {
    model: { takes: 'NAME', about: 'The model, such as openai/gpt-5. With --resume default: as before.' },
    'base-url': { takes: 'URL', about: 'Where the provider answers, such as a server of your own.' },
    'trust-project': {
      about: 'Takes the package of the model from the project too. Its code runs with your rights.',
    },
    resume: { takes: 'RUN', about: 'Goes on with a run. A task says more to it, once its calls are over.' },
    wait: { about: 'Waits for a person, wherever they answer, also without a terminal.' },
    'max-turns': { takes: 'N', about: 'Answers of the model at most. Default: 50.' },
    system: { takes: 'FILE', about: 'A text that says how the agent works, in place of that of Handrail.' },
    'output-schema': {
      takes: 'FILE',
      about: 'A JSON Schema. The last answer has to be JSON of it, and is what is printed.',
    },
    session: { takes: 'ID', about: 'An id of your own: a session of this id goes on. Default: a new one.' },
    approve: {
      takes: 'once|deny',
      about: 'Answers in place of a person, in this process. With deny, no standing consent answers either.',
    },
    ...callerOptions,
    json: { about: 'Prints what happens as JSON, an event a line.' },
  },
  examples: [
    'handrail run "why does the test in test/cart fail?" --model anthropic/claude-sonnet-4-5',
    'handrail run - --model openai/gpt-5 --output-schema issues.json < task.md',
    'handrail run "tidy up" --model openai-compatible/qwen3 --base-url http://127.0.0.1:11434/v1',
    'handrail run --resume last',
  ],
  takes: 1,
  async run(given) {
    const line = await readRunLine(given)
    const places = findPlaces(given)
    const prices = loadPrices(places.prices, createSchemaChecker())
    // Most of what can be wrong is wrong with the model: it is looked for before anything is written.
    if (line.model !== undefined)
      await loadModel(line.model, {
        project: places.project,
        trustsProject: line.trustsProject,
        baseUrl: line.baseUrl,
      })
    const stop = listenForStop()
    const terminal = openTerminal(() => stop.stop(), { around: given.positionals[0] === '-' })
    const talk = openTalk(terminal, line.approve)
    const keyNames = presentKeyNames()
    const runtime = await wireRuntime(places, talk.approve, {
      elicit: talk.elicit,
      upstreams: 'met',
      secrets: keyNames,
      namedModels: namedModels(given, places),
    })
    try {
      await runtime.settled()
      const redactor = createRedactor(keyNames.map((name) => readEnvironment(name) ?? ''))
      const wait = line.wait || (line.approve === undefined && terminal !== undefined)
      const ground = { runtime, line, prices, redactor, wait, signal: stop.signal }
      return exitCodeOf(await follow(ground, talk), stop)
    } finally {
      await runtime.close()
      stop.release()
    }
  },
}

/** Shows a run from its start to its end. */
async function follow(ground: RunGround, talk: Talk): Promise<RunResult> {
  const { line, redactor } = ground
  const { isJson } = line
  const { run: started, kept } = await startRun(ground)
  const show = showRun({ isJson, redactor, hasOutput: line.task.output !== undefined })
  const shown = (async () => {
    for await (const event of started) {
      await talk.isOver()
      show(event)
    }
  })()
  const [result] = await Promise.all([started.result, kept, shown]).catch((error: unknown) => {
    throw isDocumentChanged(error) ? takenOver(started.id) : error
  })
  if (isJson) return result
  if (result.output !== undefined) writeJson(redactor.json(result.output))
  const lines = describeEnd(result).map((each) => `${showLine(redactor.text(each))}\n`)
  process.stderr.write(lines.join(''))
  return result
}

function takenOver(id: string): SetupError {
  return new SetupError(
    'run_in_progress',
    `Another process goes on with the run "${id}", and was faster. Wait for its end.`,
  )
}

/** A signal that aborted the run says what the process ends with. */
function exitCodeOf({ endReason }: RunResult, { exitCode }: StopSignal): number {
  const isAborted = endReason === 'aborted' || endReason === 'aborted_tools'
  return (isAborted ? exitCode : undefined) ?? exitCodeOfRun[endReason]
}
