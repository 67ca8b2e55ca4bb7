import type { RunJob, RunResult, TranscriptNode } from '../../contract/agent-run.ts'
import { callError } from '../../kit/result/call-error.ts'
import { fieldsOf, textOf } from '../../doors/base/message-fields.ts'
import { answerText } from './answer-text.ts'
import { askModel } from './ask-model.ts'
import { compact, isFull } from './compact.ts'
import { checkOutput, readOutput } from './final-output.ts'
import { timeOver, type RunEnded } from './run-book.ts'
import type { OpenRun, RunEnd } from './run-state.ts'
import { toEndNote } from './run-notes.ts'
import { runCalls } from './run-calls.ts'
import { hasMessages, saveEnd, takeMessages } from './take-messages.ts'

/** Answers of a model at most, if the run does not say. */
export const defaultTurns = 50

/**
 * Asks the model and runs its calls by turns, until the run ends. What happens next is read off the transcript alone, so that a run goes on from
 * wherever its process was ended.
 */
export async function runAgent(run: OpenRun): Promise<RunResult> {
  for (;;) {
    const end = await goOn(run)
    const result = end && (await finish(run, end))
    if (result !== undefined) return result
  }
}

async function goOn(run: OpenRun): Promise<RunEnd | undefined> {
  const last = run.nodes.at(-1)
  if (last?.type === 'assistant' && run.kept.hasOpenCalls) return runCalls(run, last)
  if (last?.type === 'assistant') {
    const end = await judge(run, last)
    if (end !== undefined && !(end.endReason === 'completed' && mayGoOn(run) && hasMessages(run))) return end
  }
  if (run.signal.aborted) return { endReason: 'aborted' }
  if (!mayGoOn(run)) return { endReason: 'max_turns' }
  await takeMessages(run)
  return isFull(run) ? compact(run) : askModel(run)
}

function mayGoOn({ kept, signal }: OpenRun): boolean {
  const { maxTurns = defaultTurns } = kept.settings
  return !signal.aborted && kept.turns - kept.countsFrom < maxTurns
}

/** What an answer without a call means. Undefined if the model is asked again. */
async function judge(
  run: OpenRun,
  answer: TranscriptNode & { type: 'assistant' },
): Promise<RunEnd | undefined> {
  const { finishReason, content } = answer
  const reason = cutReasons[finishReason]
  if (reason !== undefined)
    return { endReason: 'failed', error: callError('PROVIDER.UNAVAILABLE', ...reason) }
  if (!content.map(fieldsOf).some(isOfUse))
    return { endReason: 'failed', error: callError('PROVIDER.UNAVAILABLE', ...emptyAnswer) }
  return run.kept.settings.output === undefined ? { endReason: 'completed' } : checkOutput(run)
}

/** Whether a part of an answer says something: reasoning alone does not. */
function isOfUse({ type, text }: ReturnType<typeof fieldsOf>): boolean {
  return type === 'file' || (type === 'text' && textOf(text).trim() !== '')
}

type Fault = [reason: string, about: { message: string }]

const emptyAnswer: Fault = [
  'empty_answer',
  {
    message:
      'The model answered with neither a text nor a call. Resume the run with another prompt, or take another model.',
  },
]

const cutReasons: { readonly [finishReason: string]: Fault } = {
  length: [
    'answer_cut_off',
    {
      message:
        'The answer reached the most tokens that an answer may have, and is cut off. Raise "maxOutputTokens", or resume the run with a prompt that asks for less.',
    },
  ],
  'content-filter': [
    'answer_filtered',
    {
      message: 'The provider withheld the answer by its content filter. Resume the run with another prompt.',
    },
  ],
  error: [
    'model_failed',
    {
      message:
        'The provider ended the answer with an error of its own. Resume the run: the model is asked again.',
    },
  ],
  interrupted: [
    'answer_cut_off',
    {
      message:
        'The stream of the provider ended before the answer did. Resume the run: the model is asked again.',
    },
  ],
}

/** Undefined if a message came meanwhile, so that the run goes on. */
async function finish(run: OpenRun, { endReason, error: said }: RunEnd): Promise<RunResult | undefined> {
  const { id, session, kept, nodes, ports } = run
  const error = ports.redact(said)
  if (endReason === 'completed') await session.endSkills()
  const output = endReason === 'completed' ? readOutput(run) : undefined
  const atWork = jobsAtWork(run)
  const result: RunResult = {
    id,
    session: session.id,
    endReason,
    text: lastText(nodes),
    turns: kept.turns,
    usage: kept.usage,
    waiting:
      endReason === 'approval_pending'
        ? (kept.step?.taken.waiting.map(({ approval }) => approval) ?? [])
        : [],
    ...(output !== undefined && { output }),
    ...(atWork.length > 0 && { atWork }),
    ...(error !== undefined && { error }),
  }
  const change = {
    state: 'ended' as const,
    endReason,
    result,
    ended: toEnded(run, endReason),
    ...(error !== undefined && { error }),
  }
  const isEnded = await saveEnd(run, change, {
    mayGoOn: endReason === 'completed' && mayGoOn(run),
    note: toEndNote(run, result),
  })
  if (!isEnded) return undefined
  run.tell({ type: 'run_ended', result })
  return result
}

/** Without agents that another process has under way. */
function jobsAtWork({ session, ports }: OpenRun): RunJob[] {
  const { book, store } = ports
  const isHere = ({ id, kind }: RunJob): boolean =>
    kind !== 'agent' || book.load(session.principal.tenant, id)?.writer === store.writer
  return session
    .jobs()
    .filter((job) => job.end === undefined && isHere(job))
    .map(({ id, kind, title }) => ({ id, kind, title }))
}

/** An abort without a word of its own is that of a time limit. */
function toEnded({ ports, signal }: OpenRun, endReason: RunEnd['endReason']): RunEnded {
  const at = ports.now()
  if (endReason !== 'aborted' && endReason !== 'aborted_tools') return { at }
  const reason: unknown = signal.reason
  return typeof reason === 'string'
    ? { at, by: reason }
    : reason instanceof Error && reason.name === 'TimeoutError'
      ? { at, by: timeOver }
      : { at }
}

/** The text of the last answer that has one. */
function lastText(nodes: readonly TranscriptNode[]): string {
  const texts = nodes.map((node) => (node.type === 'assistant' ? answerText(node) : ''))
  return texts.findLast((text) => text !== '') ?? ''
}
