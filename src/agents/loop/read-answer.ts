import type { Json } from '../../contract/base/json.ts'
import type { ModelPart } from '../../doors/language-model/messages.ts'
import { isIssue, toJson } from '../../kit/json/to-json.ts'
import { textOf } from '../../doors/base/message-fields.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** What a model answered, as far as it came. */
export interface ReadAnswer {
  readonly content: readonly ModelPart[]
  /** In the words of the AI SDK; `interrupted` if the stream ended without one. */
  readonly finishReason: string
  readonly tokens: TokenCount
}

/** Zero for what the provider did not tell. */
export interface TokenCount {
  readonly input: number
  readonly cachedInput: number
  readonly output: number
}

/** A piece of text of an answer, as it comes. */
export interface AnswerDelta {
  readonly type: 'text' | 'reasoning'
  readonly delta: string
}

type Part = Readonly<Record<string, unknown>>
type OpenPart = { type: string; [field: string]: Json }

/** The parts of an answer so far, in the order in which they began. */
interface Parts {
  readonly open: Map<string, OpenPart>
  /** The keys of texts that go on, by kind and id: an id may be used again for another text. */
  readonly texts: Map<string, string>
  /** Calls that have come as a whole, by their keys. */
  readonly whole: Set<string>
}

/** How an answer is read. */
export interface AnswerReading {
  readonly tell: (delta: AnswerDelta) => void
  readonly signal: AbortSignal
}

/** Reads the stream of a language model to its end, or to the abort. Throws what the stream reports as its error. */
export async function readAnswer(
  stream: ReadableStream<unknown>,
  { tell, signal }: AnswerReading,
): Promise<ReadAnswer> {
  const parts: Parts = { open: new Map(), texts: new Map(), whole: new Set() }
  const reader = stream.getReader()
  // Ends what is being read, whether or not the provider hears of the abort; whether it could stop is its own affair.
  const stop = (): void => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', stop)
  let finish: Part | undefined
  try {
    for (;;) {
      signal.throwIfAborted()
      const { done, value: part } = await reader.read()
      if (done) break
      if (!isPlainObject(part)) continue
      if (part['type'] === 'error') throw toError(part['error'])
      if (part['type'] === 'finish') finish = part
      else take(part, parts, tell)
    }
    signal.throwIfAborted()
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
  return {
    content: [...parts.open.values()].filter((part) => !isBlank(part)),
    finishReason: readReason(finish?.['finishReason']),
    tokens: readTokens(finish?.['usage']),
  }
}

/** Starts a part, adds to one, or keeps one that came whole. */
function take(part: Part, parts: Parts, tell: (delta: AnswerDelta) => void): void {
  const [kind, step] = splitType(textOf(part['type']))
  switch (kind) {
    case 'text':
    case 'reasoning':
      takeText(part, { kind, step }, parts)
      if (step === 'delta' && textOf(part['delta']) !== '') tell({ type: kind, delta: textOf(part['delta']) })
      break
    case 'tool-input':
      takeInput(part, step, parts)
      break
    case 'tool-call':
      takeCall(part, parts)
      break
    case 'tool-result':
      // Of those that are not yet final, the last is told again.
      if (part['preliminary'] !== true) parts.open.set(`result ${parts.open.size}`, toProviderResult(part))
      break
    case 'file':
    case 'reasoning-file':
    case 'custom':
      parts.open.set(`other ${parts.open.size}`, {
        ...toPlain({ ...part, providerMetadata: undefined }),
        ...toOptions(part),
        type: kind,
      })
      break
    default:
  }
}

function splitType(type: string): [kind: string, step: string] {
  const [, kind = type, step = ''] = /^(.+)-(start|delta|end)$/.exec(type) ?? []
  return [kind, step]
}

function takeText(
  part: Part,
  { kind, step }: { kind: 'text' | 'reasoning'; step: string },
  { open, texts }: Parts,
): void {
  const id = `${kind} ${idOf(part['id'])}`
  const key = (step === 'start' ? undefined : texts.get(id)) ?? `${id} ${open.size}`
  texts.set(id, key)
  const before = open.get(key) ?? { type: kind, text: '' }
  open.set(key, { ...before, text: `${textOf(before['text'])}${textOf(part['delta'])}`, ...toOptions(part) })
}

/** The input of a call that may never come as a whole. */
function takeInput(part: Part, step: string, { open }: Parts): void {
  const key = `call ${idOf(part['id'])}`
  const before = open.get(key)
  if (step === 'start' && before === undefined)
    open.set(key, toCall({ ...part, toolCallId: part['id'], input: '' }))
  if (step === 'delta' && before !== undefined)
    open.set(key, { ...before, input: `${textOf(before['input'])}${textOf(part['delta'])}` })
}

/** A call keeps the place where its input started. Two with one id are two calls. */
function takeCall(part: Part, { open, whole }: Parts): void {
  const first = `call ${idOf(part['toolCallId'])}`
  const key = whole.has(first) ? `${first} ${open.size}` : first
  whole.add(key)
  open.set(key, toCall(part))
}

function toCall(part: Part): OpenPart {
  const { input, providerExecuted } = part
  return {
    type: 'tool-call',
    toolCallId: idOf(part['toolCallId']),
    toolName: textOf(part['toolName']),
    input: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
    ...(providerExecuted === true && { providerExecuted }),
    ...toOptions(part),
  }
}

function toProviderResult(part: Part): OpenPart {
  const { result = null, isError } = toPlain(part)
  return {
    type: 'tool-result',
    toolCallId: idOf(part['toolCallId']),
    toolName: textOf(part['toolName']),
    output: { type: isError === true ? 'error-json' : 'json', value: result },
    ...toOptions(part),
  }
}

/** What the provider wants back with the part. */
function toOptions({ providerMetadata }: Part): { providerOptions?: Json } {
  return isPlainObject(providerMetadata) ? { providerOptions: toPlain(providerMetadata) } : {}
}

function toPlain(part: object): { [field: string]: Json } {
  const copied = toJson(part)
  return !isIssue(copied) && isJsonObject(copied.json) ? copied.json : {}
}

/** Providers refuse texts of nothing but spaces, unless they hang something on them. */
function isBlank(part: OpenPart): boolean {
  return part.type === 'text' && textOf(part['text']).trim() === '' && part['providerOptions'] === undefined
}

function idOf(id: unknown): string {
  return typeof id === 'number' ? String(id) : textOf(id)
}

/** A text in the second version of the interface, later an object. */
function readReason(reason: unknown): string {
  const unified = isPlainObject(reason) ? reason['unified'] : reason
  return typeof unified === 'string' ? unified : 'interrupted'
}

function readTokens(usage: unknown): TokenCount {
  const { inputTokens, outputTokens, cachedInputTokens }: Part = isPlainObject(usage) ? usage : {}
  const cached = isPlainObject(inputTokens) ? inputTokens['cacheRead'] : cachedInputTokens
  return { input: totalOf(inputTokens), cachedInput: countOf(cached), output: totalOf(outputTokens) }
}

/** A number in the second version of the interface, later an object. */
function totalOf(tokens: unknown): number {
  return countOf(isPlainObject(tokens) ? tokens['total'] : tokens)
}

function countOf(count: unknown): number {
  return typeof count === 'number' && Number.isFinite(count) && count > 0 ? Math.ceil(count) : 0
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(typeof error === 'string' ? error : JSON.stringify(error))
}
