import type { TranscriptNode } from '../../contract/agent-run.ts'
import { textOf } from '../../doors/base/message-fields.ts'
import type { ModelMessage, ModelPart } from '../../doors/language-model/messages.ts'
import { callError } from '../../kit/result/call-error.ts'
import { request } from './ask-model.ts'
import { addUsage, toUsage } from './count-usage.ts'
import type { RunSettings } from './run-settings.ts'
import type { OpenRun, RunEnd } from './run-state.ts'
import { estimateTokens } from './estimate-tokens.ts'
import { promptOf } from './prompt-of.ts'

const defaultContextTokens = 128_000
/** So much of the window may be full. */
const full = 0.8

/**
 * Whether the conversation fills four fifths of the window of the model: what the last request took, as the provider counted it, and what came since, by
 * its length.
 */
export function isFull({
  nodes,
  kept,
}: {
  nodes: readonly TranscriptNode[]
  kept: { readonly settings: Pick<RunSettings, 'contextTokens'> }
}): boolean {
  const { contextTokens = defaultContextTokens } = kept.settings
  const summary = nodes.findLastIndex(({ type }) => type === 'summary')
  const counted = nodes.findLastIndex((node, index) => index > summary && node.type === 'assistant')
  const from = Math.max(counted, summary)
  // A summary that is followed by nothing has just been made.
  if (summary >= 0 && summary === nodes.length - 1) return false
  const node = nodes[counted]
  const known = node?.type === 'assistant' ? node.usage.inputTokens + node.usage.outputTokens : 0
  const since = estimateTokens(nodes.slice(known > 0 ? from + 1 : Math.max(0, summary)))
  return nodes.length > 1 && known + since > contextTokens * full
}

const ask =
  'The conversation is about to be longer than you can read. Write down what you need to go on with the task, as you will see nothing else of it: what the user wants, what was done and found, with names and paths, what was decided and denied, and what is to be done next. Call no tool.'

/**
 * Puts a summary by the model in the place of what happened. The rule: what the user asked first stays, and what the user said last if that is not
 * answered; all else is the summary.
 */
export async function compact(run: OpenRun): Promise<RunEnd | undefined> {
  const { kept } = run
  const prompt = shorten(promptOf(run), run)
  const question = { role: 'user' as const, content: [{ type: 'text', text: ask }] }
  const answer = await request(run, {
    prompt: [...prompt, question],
    tools: run.calls.tools,
    tell: () => undefined,
  })
  if ('endReason' in answer) return answer
  const text = answer.content
    .map((part) => (part.type === 'text' ? textOf(part['text']) : ''))
    .join('')
    .trim()
  const usage = toUsage(answer.tokens, kept.settings.price)
  if (text === '')
    return {
      endReason: 'failed',
      error: callError('PROVIDER.UNAVAILABLE', 'context_full', {
        message:
          'The conversation fills the window of the model, and the model wrote no summary of it. Start a new run with what matters, or take a model with a larger window.',
      }),
    }
  const node: Omit<TranscriptNode & { type: 'summary' }, 'id' | 'at'> = { type: 'summary', text, usage }
  await run.save({ usage: addUsage(kept.usage, usage) }, [node])
  run.tell({ type: 'compacted' })
  return undefined
}

/** A conversation that is longer than the window already is read without most of what calls took and returned. */
function shorten(prompt: readonly ModelMessage[], { kept }: OpenRun): ModelMessage[] {
  const { contextTokens = defaultContextTokens } = kept.settings
  if (estimateTokens(prompt) < contextTokens) return [...prompt]
  return prompt.map((message) =>
    typeof message.content === 'string' ? message : { ...message, content: message.content.map(shortenPart) },
  )
}

const shownOfPart = 400

function shortenPart(part: ModelPart): ModelPart {
  const said = JSON.stringify(part[part.type === 'tool-call' ? 'input' : 'output'] ?? '')
  if (said.length <= shownOfPart) return part
  const text = `${said.slice(0, shownOfPart)} … (shortened)`
  return part.type === 'tool-call'
    ? { ...part, input: { shortened: text } }
    : { ...part, output: { type: 'text', value: text } }
}
