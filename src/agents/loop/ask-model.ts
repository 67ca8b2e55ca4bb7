import type { CallError } from '../../contract/base/errors.ts'
import { readCalls } from '../../doors/language-model/open-model-calls.ts'
import type { ModelMessage, ModelTool } from '../../doors/language-model/messages.ts'
import { callError } from '../../kit/result/call-error.ts'
import { copyJson } from '../../kit/json/copy-json.ts'
import { newId } from '../../kit/new-id.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { briefOf, isSameBrief } from './brief.ts'
import { addUsage, toUsage } from './count-usage.ts'
import type { ModelUse, NewNode, OpenRun, RunEnd } from './run-state.ts'
import { untilAborted } from './until-aborted.ts'
import { estimateTokens } from './estimate-tokens.ts'
import { readAnswer, type AnswerDelta, type ReadAnswer, type TokenCount } from './read-answer.ts'
import { promptOf } from './prompt-of.ts'
import { wait } from './wait.ts'

/** Asks the model what comes next, and keeps its answer. */
export async function askModel(run: OpenRun): Promise<RunEnd | undefined> {
  const { kept, tell } = run
  const turn = kept.turns + 1
  tell({ type: 'turn_started', turn })
  const { tools } = run.calls
  const { session, ports } = run
  const narrowing = ports.narrowingOf(session)
  const brief = briefOf({ settings: kept.settings, calls: { tools }, session, narrowing })
  if (!isSameBrief(run.brief, brief)) run.brief = brief
  const answer = await request(run, { prompt: promptOf(run), tools, tell })
  if ('endReason' in answer) return answer
  const usage = toUsage(answer.tokens, kept.settings.price)
  const { content, finishReason } = answer
  const next = { id: `${run.id}.${kept.nodes + 1}`, content, finishReason }
  const calls = readCalls(next)
  const node: NewNode = { type: 'assistant', content, finishReason, usage }
  const change = { turns: turn, usage: addUsage(kept.usage, usage), hasOpenCalls: calls.length > 0 }
  await run.save(change, [node], { early: true })
  tell({ type: 'turn_ended', turn, usage })
  return undefined
}

/** What the model is asked. */
export interface ModelRequest {
  readonly prompt: readonly ModelMessage[]
  readonly tools: readonly ModelTool[]
  readonly tell: (delta: AnswerDelta) => void
}

/** How long a request that a provider could not take waits until it is made again, in milliseconds. */
const pauses = [500, 2_000]
const longestPauseMs = 60_000

/** One answer of the model, or why there is none. Its budgets are asked before, and told after. */
export async function request(run: OpenRun, asked: ModelRequest): Promise<ReadAnswer | RunEnd> {
  const { ports, session, kept } = run
  const id = newId('ask', ports.now())
  const guess = (): TokenCount => estimate(run, asked)
  const held = ports.account.reserve(session, { id, estimate: () => toUse(guess(), { kept }) })
  if ('code' in held)
    return { endReason: held.reason === 'calls_paused' ? 'failed' : 'budget_exceeded', error: held }
  const seen: Seen = { characters: 0 }
  const answer = await tryOften(run, asked, seen).catch((error: unknown) => {
    held.release()
    throw error
  })
  if (!('endReason' in answer))
    await held.settle(() => toUse(isTold(answer.tokens) ? answer.tokens : guess(), { kept }))
  // The provider counts an answer that broke off as well.
  else if (seen.characters > 0)
    await held.settle(() => toUse({ ...guess(), output: tokensOf(seen) }, { kept }))
  else held.release()
  return answer
}

/** How much of an answer has come. */
interface Seen {
  characters: number
}

const usualOutput = 1_000

function estimate({ kept }: OpenRun, { prompt, tools }: ModelRequest): TokenCount {
  const input = estimateTokens([prompt, tools])
  return { input, cachedInput: 0, output: kept.settings.maxOutputTokens ?? usualOutput }
}

function tokensOf({ characters }: Seen): number {
  return estimateTokens('x'.repeat(characters))
}

/** Some servers tell no counts. */
function isTold({ input, output }: TokenCount): boolean {
  return input > 0 || output > 0
}

function toUse(tokens: TokenCount, { kept }: Pick<OpenRun, 'kept'>): ModelUse {
  return { tokens: tokens.input + tokens.output, cost: toUsage(tokens, kept.settings.price).cost }
}

/** Asks again if the provider says that it may be tried again, and nothing of an answer was seen. */
async function tryOften(run: OpenRun, asked: ModelRequest, seen: Seen): Promise<ReadAnswer | RunEnd> {
  const { signal } = run
  for (let attempt = 0; ; attempt++) {
    try {
      if (signal.aborted) return { endReason: 'aborted' }
      const { stream } = await untilAborted(run.model.doStream(toCallOptions(run, asked) as never), signal)
      return await readAnswer(stream, {
        signal,
        tell(delta) {
          seen.characters += delta.delta.length
          asked.tell(delta)
        },
      })
    } catch (error) {
      if (signal.aborted) return { endReason: 'aborted' }
      const pause = pauses[attempt]
      if (seen.characters > 0 || pause === undefined || !isRetryable(error))
        return { endReason: 'failed', error: toCallError(run, error) }
      await wait(Math.max(pause, retryAfterMs(error)), signal)
    }
  }
}

function toCallOptions({ kept: { settings }, signal }: OpenRun, { prompt, tools }: ModelRequest): object {
  const { maxOutputTokens, temperature, providerOptions, output } = settings
  return {
    prompt,
    abortSignal: signal,
    // A model may change what it is given; the next turn has the same tools.
    ...(tools.length > 0 && { tools: copyJson(tools), toolChoice: { type: 'auto' } }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(providerOptions !== undefined && { providerOptions }),
    // With tools, providers would hold every answer to it.
    ...(output !== undefined && tools.length === 0 && { responseFormat: { type: 'json', schema: output } }),
  }
}

function isRetryable(error: unknown): boolean {
  return isErrorWith(error) && error['isRetryable'] === true
}

function retryAfterMs(error: unknown): number {
  const headers = isErrorWith(error) ? error['responseHeaders'] : undefined
  const seconds = isPlainObject(headers) ? Number(headers['retry-after']) : Number.NaN
  return Number.isFinite(seconds) ? Math.min(longestPauseMs, seconds * 1_000) : 0
}

function toCallError({ model: { provider, modelId } }: OpenRun, error: unknown): CallError {
  const status = isErrorWith(error) ? error['statusCode'] : undefined
  const said = messageOf(error).slice(0, 2_000)
  const model = `${modelId} (${provider})`
  if (status === 401 || status === 403)
    return callError('PROVIDER.UNAVAILABLE', 'model_refused', {
      message: `The provider refuses the key for ${model}: ${said}. Set the key of the provider in its environment variable.`,
      data: { status },
    })
  return callError('PROVIDER.UNAVAILABLE', 'model_failed', {
    message: `The model ${model} does not answer: ${said}. The run can be resumed.`,
    ...(typeof status === 'number' && { data: { status } }),
  })
}

function isErrorWith(error: unknown): error is Readonly<Record<string, unknown>> {
  return typeof error === 'object' && error !== null
}
