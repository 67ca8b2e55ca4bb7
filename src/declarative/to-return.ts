import { parseJson } from '../kit/json/parse-json.ts'
import { ToolFailure } from '../contract/base/errors.ts'
import type { Json } from '../contract/base/json.ts'
import type { Artifact, ContentBlock, ToolOutput } from '../contract/base/result.ts'
import type { CommandOutcome } from '../contract/services/sandbox.ts'
import type { SchemaChecker } from '../contract/base/schema.ts'
import type { ToolContext } from '../contract/tool/tool.ts'
import { describeJsonIssue } from '../kit/json/describe-json-issue.ts'
import { inWholeLines, joinCaptured, lastWords } from '../kit/text/show-captured.ts'
import { describeGuarded, toNotLanded, toProtected } from '../kit/text/show-guarded.ts'
import { describeRefused, networkFacts } from '../kit/text/show-network.ts'
import { showOutput } from '../kit/text/show-output.ts'
import { toolOutput } from '../kit/result/tool-output.ts'
import { noteOfOutput } from '../kit/whole-output.ts'
import { parseOutput } from './parse-output.ts'
import type { ToolFile } from './tool-file.ts'

interface About {
  file: ToolFile
  context: ToolContext
  checker: SchemaChecker
}

/** What a program left behind, as what its tool returns. Throws a ToolFailure for output that is not what the file declares. */
export async function toReturn(outcome: CommandOutcome, about: About): Promise<ToolOutput> {
  const given = await toOutput(outcome, about)
  const notes = describeGuarded(outcome).map((note) => ({ type: 'text' as const, text: `[${note}]` }))
  return {
    ...given,
    // The error says it if there is one of the exit code.
    ...(given.error?.reason !== 'exit_code' && { content: [...given.content, ...notes] }),
    ...(outcome.network !== undefined && {
      metadata: { ...given.metadata, ...networkFacts(outcome.network) },
    }),
  }
}

async function toOutput(outcome: CommandOutcome, about: About): Promise<ToolOutput> {
  const { file } = about
  const { setAside = [], notLanded, ended } = outcome
  if (notLanded !== undefined && ended === 'exit') return showText(outcome, toNotLanded(notLanded))
  if (setAside.length > 0) return showText(outcome, toProtected(`The program of "${file.name}"`, setAside))
  const error = toError(outcome, about)
  if (error !== undefined || file.output === 'text') return showText(outcome, error)
  if (outcome.stdout.truncated) throw tooLarge(file, outcome.stdout.bytes)
  const value = parseOwnJson(outcome, file)
  if (file.output === 'json') return showJson(value)
  const given = await parseOutput(value, about)
  const { stderr } = outcome
  return stderr.artifact === undefined
    ? given
    : { ...given, artifacts: [...(given.artifacts ?? []), stderr.artifact] }
}

function showJson(data: Json): ToolOutput {
  return toolOutput({ content: [{ type: 'json', json: data }], data })
}

function showText({ stdout, stderr }: CommandOutcome, error: ToolOutput['error']): ToolOutput {
  const artifacts = [stdout, stderr].flatMap(({ artifact }) => (artifact === undefined ? [] : [artifact]))
  const text = joinCaptured(inWholeLines(stdout))
  return toolOutput({
    content: [
      ...(text === '' ? [] : [{ type: 'text' as const, text: showOutput(text) }]),
      ...artifacts.map(toReference),
    ],
    artifacts,
    ...(error === undefined ? !stdout.truncated && { data: text } : { error }),
  })
}

function toReference(artifact: Artifact): ContentBlock {
  return { type: 'artifact_ref', artifact, note: noteOfOutput(artifact) }
}

function toError(outcome: CommandOutcome, { file, context }: About): ToolOutput['error'] {
  const { ended, exitCode, signal, stderr, network } = outcome
  if (ended === 'exit' && exitCode === 0) return undefined
  const data = { exit_code: exitCode, signal }
  if (ended !== 'exit') return { ...toEnding(file.name, String(context.signal.reason)), data }
  const how = exitCode === null ? `was ended by ${signal ?? 'a signal'}` : `ended with exit code ${exitCode}`
  const last = lastWords(stderr)
  const told = describeGuarded(outcome)
  if (network !== undefined && network.refused.length > 0) told.push(describeRefused(network))
  return {
    code: 'TOOL.FAILED',
    reason: 'exit_code',
    message: [`The program of "${file.name}" ${how}${last === '' ? '.' : `: ${last}`}`, ...told].join('\n'),
    data,
  }
}

/** The runtime states its reason for an abort as a word. */
function toEnding(tool: string, reason: string): NonNullable<ToolOutput['error']> {
  if (reason === 'timeout')
    return {
      code: 'TOOL.TIMEOUT',
      reason: 'timed_out',
      message: `The program of "${tool}" was stopped at the time limit of the call. Ask for less at a time.`,
    }
  return {
    code: 'TOOL.ABORTED',
    reason: reason === 'run_cancelled' ? reason : 'aborted_by_user',
    message: `The program of "${tool}" was stopped before its end.`,
  }
}

function parseOwnJson({ stdout, stderr }: CommandOutcome, { name, output }: ToolFile): Json {
  const text = stdout.head + stdout.tail
  try {
    return parseJson(text)
  } catch {
    const said = lastWords(stderr)
    const printed =
      text.trim() === '' ? 'nothing' : `something that is not JSON (at ${describeJsonIssue(text)})`
    throw new ToolFailure({
      code: 'SCHEMA.VALIDATION_FAILED',
      reason: 'invalid_output',
      message: `The program of "${name}" printed ${printed}, and its output is declared as "${output}". If it prints plain text, the operator can declare "output": "text".${said === '' ? '' : ` It said: ${said}`}`,
    })
  }
}

function tooLarge({ name, stdout_limit_bytes: limit }: ToolFile, bytes: number): ToolFailure {
  return new ToolFailure({
    reason: 'output_too_large',
    message: `The program of "${name}" printed ${bytes} bytes, and at most ${limit} are read as JSON. Ask for less at a time.`,
    data: { bytes, limit },
  })
}
