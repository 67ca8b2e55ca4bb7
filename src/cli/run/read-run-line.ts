import type { Json } from '../../contract/base/json.ts'
import { describeJsonIssue } from '../../kit/json/describe-json-issue.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import { readCaller, readText } from '../arguments/caller.ts'
import { readFile } from '../arguments/read-file.ts'
import type { CommandLine } from '../base/command.ts'
import { showLine } from '../base/show-safely.ts'
import { readBaseUrl } from '../arguments/read-base-url.ts'
import { UsageError } from '../base/usage-error.ts'
import { modelNameForm, type ModelName } from '../../config/base/model-name.ts'
import { readModelName } from '../model/read-model-name.ts'
import { readChoice } from '../terminal/read-choice.ts'

/** What a command line says of a run. */
export interface RunLine {
  readonly prompt: string | undefined
  readonly resume: string | undefined
  readonly model: ModelName | undefined
  readonly baseUrl: string | undefined
  readonly trustsProject: boolean
  readonly session: string | undefined
  readonly caller: ReturnType<typeof readCaller>
  readonly approve: 'once' | 'deny' | undefined
  readonly wait: boolean
  readonly isJson: boolean
  /** What is handed to the run as it is. */
  readonly task: {
    readonly maxTurns?: number
    readonly system?: string
    readonly output?: { [field: string]: Json }
  }
}

/** Reads it. Throws a UsageError for the first thing that is wrong. */
export async function readRunLine(given: CommandLine): Promise<RunLine> {
  const resume = readText(given, 'resume')
  const model = readText(given, 'model')
  const session = readText(given, 'session')
  const system = readText(given, 'system')
  const schema = readText(given, 'output-schema')
  const maxTurns = readMaxTurns(readText(given, 'max-turns'))
  if (resume !== undefined && session !== undefined)
    throw new UsageError('A run goes on in its own session: leave out --session, or --resume.')
  if (resume === undefined && given.positionals.length === 0)
    throw new UsageError(
      'Say what the agent is to do: handrail run "fix the failing test" --model openai/gpt-5.\n"handrail help run" shows all options.',
    )
  if (resume === undefined && model === undefined)
    throw new UsageError(`Say which model works on it, with --model. ${modelNameForm}`)
  return {
    resume,
    model: model === undefined ? undefined : readModelName(model),
    baseUrl: readBaseUrl(readText(given, 'base-url')),
    trustsProject: given.options['trust-project'] === true,
    session,
    caller: readCaller(given),
    approve: readChoice(given, 'approve', ['once', 'deny'] as const),
    wait: given.options['wait'] === true,
    isJson: given.options['json'] === true,
    task: {
      ...(maxTurns !== undefined && { maxTurns }),
      ...(system !== undefined && { system: readFile(system) }),
      ...(schema !== undefined && { output: readSchema(schema) }),
    },
    prompt: await readPrompt(given.positionals[0]),
  }
}

/** A word, or with `-` what stands on standard input. */
async function readPrompt(word: string | undefined): Promise<string | undefined> {
  if (word === undefined) return undefined
  const { text } = process.getBuiltinModule('node:stream/consumers')
  const prompt = word === '-' ? await text(process.stdin) : word
  if (prompt.trim() !== '') return prompt
  throw new UsageError(
    `${word === '-' ? 'Standard input' : 'The prompt'} is empty. Say what the agent is to do.`,
  )
}

function readMaxTurns(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= 100_000) return count
  throw new UsageError(`--max-turns is "${showLine(text)}"; it must be a whole number from 1 to 100000.`)
}

function readSchema(path: string): { [field: string]: Json } {
  const text = readFile(path)
  let schema: unknown
  try {
    schema = JSON.parse(text)
  } catch {
    throw new UsageError(`"${showLine(path)}" is not valid JSON at ${describeJsonIssue(text)}.`)
  }
  if (isJsonObject(schema as Json)) return schema as { [field: string]: Json }
  throw new UsageError(`"${showLine(path)}" is not a JSON Schema: it is JSON, but not an object.`)
}
