import type { ErrorCode } from '../../../contract/base/errors.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { Artifact, ContentBlock, ToolOutput } from '../../../contract/base/result.ts'
import type { CapturedOutput, CommandOutcome } from '../../../contract/services/sandbox.ts'
import { inWholeLines, joinCaptured, lastWords } from '../../../kit/text/show-captured.ts'
import { describeGuarded, toNotLanded, toProtected } from '../../../kit/text/show-guarded.ts'
import { describeRefused, networkFacts } from '../../../kit/text/show-network.ts'
import { showOutput } from '../../../kit/text/show-output.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { noteOfOutput } from '../../../kit/whole-output.ts'
import { changesData, changesSchema } from './changes-data.ts'

/** What is known of the command beside its outcome. */
export interface OutcomeOf {
  /** For messages. */
  command: string
  timeoutMs: number
  abortReason: string
  /** What a dry run would have changed, for its reader. */
  changes?: readonly ContentBlock[]
}

/** The result of a command. Anything but exit code 0 is a failure, with all output still in the content. */
export function showOutcome(given: CommandOutcome, about: OutcomeOf): ToolOutput {
  const [stdout, stderr] = [inWholeLines(given.stdout), inWholeLines(given.stderr)]
  const outcome = { ...given, stdout, stderr }
  const ending = describeEnd(outcome)
  const artifacts = [stdout, stderr].flatMap((stream) =>
    stream.artifact === undefined ? [] : [stream.artifact],
  )
  const content: ContentBlock[] = [
    { type: 'text', text: showText(outcome, ending) },
    ...(about.changes ?? []),
    ...artifacts.map((artifact): ContentBlock => ({
      type: 'artifact_ref',
      artifact,
      note: noteOfOutput(artifact),
    })),
  ]
  const error = toError(outcome, about)
  const facts = { ...(outcome.ended !== 'exit' && { partial: true }), ...networkFacts(outcome.network) }
  return toolOutput({
    content,
    artifacts,
    summary: `${about.command}: ${ending}`,
    data: { ...toData(outcome), ...changesData(outcome.changes ?? outcome.landed) },
    ...(error !== undefined && { error }),
    ...(Object.keys(facts).length > 0 && { metadata: facts }),
  })
}

function describeEnd({ ended, exitCode, signal, durationMs }: CommandOutcome): string {
  const after = `after ${(durationMs / 1000).toFixed(1)} s`
  if (ended === 'timeout') return `stopped at its time limit ${after}`
  if (ended === 'abort') return `aborted ${after}`
  return exitCode === null ? `ended by ${signal ?? 'a signal'} ${after}` : `exit code ${exitCode} ${after}`
}

function showText(outcome: CommandOutcome, ending: string): string {
  const { stdout, stderr, survivors, network, ended, exitCode } = outcome
  const parts = [`[${ending}]`]
  if (stdout.bytes > 0) parts.push(showOutput(joinCaptured(stdout)).trimEnd())
  if (stderr.bytes > 0) parts.push('[stderr]', showOutput(joinCaptured(stderr)).trimEnd())
  if (stdout.bytes + stderr.bytes === 0) parts.push('[no output]')
  // The error says it if there is one of the exit code.
  if (ended !== 'exit' || exitCode === 0) parts.push(...describeGuarded(outcome).map((note) => `[${note}]`))
  if (network !== undefined && network.refused.length > 0) parts.push(`[${describeRefused(network)}]`)
  if (survivors.length > 0) parts.push(`[These processes may still run: ${survivors.join(', ')}]`)
  return parts.join('\n')
}

function toError(outcome: CommandOutcome, about: OutcomeOf): ToolOutput['error'] {
  const { ended, exitCode, signal, stderr, setAside = [], withheld = [], notLanded } = outcome
  if (setAside.length > 0) return toProtected(about.command, setAside)
  if (notLanded !== undefined && ended === 'exit') return toNotLanded(notLanded)
  const left = notLanded === undefined ? '' : ` ${notLanded.message}`
  if (ended === 'exit' && exitCode === 0) return undefined
  const data: JsonObject = { exit_code: exitCode, signal }
  if (ended === 'timeout') {
    const message = `${about.command} did not end within ${about.timeoutMs} ms and was stopped. Give it more time (at most 600000 ms), or do less at a time.${left}`
    return { code: 'TOOL.TIMEOUT', reason: 'timed_out', message, data }
  }
  if (ended === 'abort') {
    const abort = toAbort(about)
    return { ...abort, message: `${abort.message}${left}`, data }
  }
  const how = exitCode === null ? `was ended by ${signal ?? 'a signal'}` : `ended with exit code ${exitCode}`
  const last = lastWords(stderr)
  return {
    code: 'TOOL.FAILED',
    reason: 'exit_code',
    message: [`${about.command} ${how}${last === '' ? '.' : `: ${last}`}`, ...describeGuarded(outcome)].join(
      '\n',
    ),
    data: withheld.length === 0 ? data : { ...data, protected_paths: [...withheld] },
  }
}

function toAbort({ command, abortReason }: OutcomeOf): { code: ErrorCode; reason: string; message: string } {
  if (abortReason === 'timeout') {
    return {
      code: 'TOOL.TIMEOUT',
      reason: 'timed_out',
      message: `${command} was stopped at the time limit of the call.`,
    }
  }
  const reason = abortReason === 'run_cancelled' ? 'run_cancelled' : 'aborted_by_user'
  return { code: 'TOOL.ABORTED', reason, message: `${command} was aborted; its output up to then is kept.` }
}

function toData({
  exitCode,
  signal,
  ended,
  durationMs,
  survivors,
  stdout,
  stderr,
}: CommandOutcome): JsonObject {
  return {
    exit_code: exitCode,
    signal,
    ended,
    duration_ms: Math.round(durationMs),
    stdout: toStream(stdout),
    stderr: toStream(stderr),
    survivors: [...survivors],
  }
}

function toStream(stream: CapturedOutput): JsonObject {
  const { head, tail, bytes, truncated, artifact } = stream
  return { head, tail, bytes, truncated, ...(artifact !== undefined && { artifact: artifactData(artifact) }) }
}

function artifactData({ digest, bytes, mimeType, name }: Artifact): JsonObject {
  return { digest, bytes, mime_type: mimeType, ...(name !== undefined && { name }) }
}

const streamSchema = {
  type: 'object',
  properties: {
    head: { type: 'string', description: 'The whole, or its start where truncated.' },
    tail: { type: 'string', description: 'The end where truncated, else empty.' },
    bytes: { type: 'integer', description: 'All that was written.' },
    truncated: { type: 'boolean' },
    artifact: {
      type: 'object',
      properties: {
        digest: { type: 'string' },
        bytes: { type: 'integer' },
        mime_type: { type: 'string' },
        name: { type: 'string' },
      },
      required: ['digest', 'bytes', 'mime_type'],
      additionalProperties: false,
    },
  },
  required: ['head', 'tail', 'bytes', 'truncated'],
  additionalProperties: false,
} as const

/** Output schema of tools that run a command. */
export const outcomeSchema = {
  type: 'object',
  properties: {
    exit_code: { type: ['integer', 'null'] },
    signal: { type: ['string', 'null'] },
    ended: { type: 'string', enum: ['exit', 'timeout', 'abort'] },
    duration_ms: { type: 'integer' },
    stdout: streamSchema,
    stderr: streamSchema,
    survivors: { type: 'array', items: { type: 'integer' }, description: 'Processes that may still run.' },
    ...changesSchema,
  },
  required: ['exit_code', 'signal', 'ended', 'duration_ms', 'stdout', 'stderr', 'survivors'],
  additionalProperties: false,
} as const
