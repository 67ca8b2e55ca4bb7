import type { SessionModel } from '../../contract/base/call.ts'
import type { CallRequest } from '../../contract/call-request.ts'
import type { Issue } from '../../contract/base/json.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { StepResult } from '../../contract/pending-approval.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { Session, StepOptions } from '../../contract/runtime.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { NameLimits } from '../../kit/names/name-codec.ts'
import { namesTools } from '../../kit/names/names-tools.ts'
import type { AskedCall } from './asked-call.ts'
import { createShownTools, type ShownTools } from './create-shown-tools.ts'
import type { FittedTool } from './fit-tools.ts'
import { modelOf } from '../rules/model-of.ts'
import type { DoorCall, DoorOptions, DoorResults, DoorStep, ModelDoor, StrictOptions } from './model-door.ts'
import type { RuleQuery } from '../rules/find-rules.ts'
import { fieldsOf } from './message-fields.ts'
import { readEvents } from './read-events.ts'
import { toAnswer, type Answer } from './result-parts.ts'

/** What makes one API out of the door. */
export interface Dialect<Definition, Message, Reply> extends CallDialect<Definition, Message, Reply> {
  collect(events: AsyncIterable<unknown>): Promise<Message>
  check(request: object): readonly Issue[]
}

/** The part of an API that calls and their results are. */
export interface CallDialect<Definition, Message, Reply> {
  /** What the provider is called in errors. */
  readonly provider: string
  /** The model that makes the calls, in the words of manifests. Default: that of the query. */
  readonly model?: SessionModel
  readonly query: RuleQuery
  readonly names: NameLimits
  /** The options that this API takes beside those of every door. */
  readonly options: readonly string[]
  define(tools: readonly FittedTool[]): Definition[]
  /** The calls of an answer, in order. Throws a TypeError for anything but an answer of this API. */
  read(message: Message): readonly AskedCall[]
  reply(answers: readonly CallAnswer[]): Reply[]
}

/** What goes back for one call. */
export interface CallAnswer extends Answer {
  readonly call: DoorCall
  /** The tools that the call found, as the provider takes them; undefined for one that did not search. */
  readonly found?: readonly FittedTool[]
}

/** The way of calls out to a model and back. */
export interface CallDoor<Definition, Message, Reply> extends Pick<
  ModelDoor<Definition, Message, Reply>,
  'tools' | 'leftOut'
> {
  /** The name in the presentation of the tool that a model calls so; that name itself for one that was never shown. */
  nameOf(wireName: string): string
  results(message: Message, options?: StepOptions): Promise<DoorResults<Reply>>
  resume(step: DoorStep, options?: Pick<StepOptions, 'signal' | 'wait'>): Promise<DoorResults<Reply>>
}

/** Makes a door to an API. Throws a SetupError for faulty options, and for tools that the provider does not take. */
export function createDoor<Definition, Message, Reply>(
  session: Session,
  options: DoorOptions & StrictOptions,
  dialect: Dialect<Definition, Message, Reply>,
): ModelDoor<Definition, Message, Reply> {
  const calls = createCallDoor(session, options, dialect)
  return {
    get tools() {
      return calls.tools
    },
    get leftOut() {
      return calls.leftOut
    },
    results: (message, { signal } = {}) => calls.results(message, signal === undefined ? {} : { signal }),
    resume: (step, { signal } = {}) => calls.resume(step, signal === undefined ? {} : { signal }),
    collect: (stream) => dialect.collect(readEvents(stream)),
    check: (request) => dialect.check(request),
  }
}

/** Makes the part of a door that calls and their results are. Throws as `createDoor` does. */
export function createCallDoor<Definition, Message, Reply>(
  session: Session,
  options: DoorOptions & StrictOptions,
  dialect: CallDialect<Definition, Message, Reply>,
): CallDoor<Definition, Message, Reply> {
  checkOptions(options, dialect)
  const { presentation = 'canonical', onUnfit = 'throw', strict = false } = options
  const model = dialect.model ?? modelOf(dialect.query)
  const shown = createShownTools(session, { ...dialect, model, presentation, onUnfit, strict })
  const finish = (calls: readonly DoorCall[], taken: StepResult): DoorResults<Reply> => {
    shown.look()
    const waiting = taken.waiting
    const messages =
      waiting.length > 0 || calls.length === 0 ? [] : dialect.reply(toAnswers(calls, taken, shown))
    return { messages, waiting, step: { calls, taken } }
  }
  // Before the first request.
  shown.fitted()
  return {
    get tools() {
      return dialect.define(shown.fitted().tools)
    },
    get leftOut() {
      return shown.fitted().leftOut
    },
    nameOf: (wireName) => shown.decode(wireName) ?? wireName,
    async results(message, stepOptions = {}) {
      const asked = dialect.read(message)
      const taken = await session.step(
        asked.map((call) => toRequest(call, { presentation, model, shown })),
        { origin: 'llm', ...stepOptions },
      )
      return finish(asked.map(toDoorCall), taken)
    },
    async resume(step, stepOptions = {}) {
      const { calls, taken } = checkStep(step)
      return finish(calls, await session.resume(taken, stepOptions))
    },
  }
}

function toRequest(
  { id, name, input, cut }: AskedCall,
  about: { presentation: NonNullable<DoorOptions['presentation']>; model: SessionModel; shown: ShownTools },
): CallRequest {
  const { presentation, model, shown } = about
  const tool = shown.decode(name) ?? name
  return {
    tool,
    input: cut === true ? toBrokenText(input) : shown.restore(tool, input),
    presentation,
    model,
    ...(id !== undefined && { id }),
    ...(tool !== name && { rawName: name }),
  }
}

/**
 * The text of an input whose end is not known. The pipeline refuses it as text that is not JSON, with evidence as for any other call, so that half a call
 * never runs.
 */
function toBrokenText(input: unknown): string {
  if (typeof input === 'string') {
    try {
      JSON.parse(input)
    } catch {
      return input === '' ? '{' : input
    }
  }
  try {
    return (typeof input === 'string' ? input : (JSON.stringify(input) ?? '{}')).trimEnd().slice(0, -1) || '{'
  } catch {
    return '{'
  }
}

function toDoorCall({ id, name, cut, echo }: AskedCall): DoorCall {
  return {
    name,
    ...(id !== undefined && { id }),
    ...(cut === true && { cut }),
    ...(echo !== undefined && { echo }),
  }
}

/** Results pair with calls by their place, as a model may give two calls one id. */
function toAnswers(
  calls: readonly DoorCall[],
  { results, order }: StepResult,
  shown: ShownTools,
): CallAnswer[] {
  const { wireNameOf } = shown
  const byId = new Map(results.map((result) => [result.callId, result]))
  return calls.flatMap((call, index) => {
    const result = byId.get(order[index] ?? '') ?? results[index]
    if (result === undefined) return []
    const found = findTools(result, shown)
    const answer = toAnswer(result, { wireNameOf, cut: call.cut === true })
    return [{ call, ...answer, ...(found !== undefined && { found }) }]
  })
}

function findTools(result: ToolResult, shown: ShownTools): readonly FittedTool[] | undefined {
  if (!namesTools(result)) return undefined
  const { tools } = fieldsOf(result.data)
  const names = new Set(Array.isArray(tools) ? tools.map((each) => fieldsOf(each)['name']) : [])
  return shown.fitted().tools.filter(({ canonical, deferred }) => deferred && names.has(canonical))
}

function checkStep(step: DoorStep): DoorStep {
  const given: unknown = step
  if (isPlainObject(given) && Array.isArray(given['calls']) && isPlainObject(given['taken'])) return step
  throw new SetupError(
    'invalid_options',
    'door.resume takes the step that door.results returned: { calls, taken }.',
  )
}

const known = ['model', 'presentation', 'onUnfit'] as const

/** What the options of every door may be. */
const choices: { readonly [option: string]: readonly unknown[] } = {
  presentation: ['canonical', 'compatible'],
  onUnfit: ['throw', 'leave-out'],
  strict: [true, false, 'if-possible'],
  deferLoading: [true, false],
}

function checkOptions(
  options: object,
  { options: own, provider }: Pick<CallDialect<never, never, never>, 'options' | 'provider'>,
): void {
  const issues = [
    ...findUnknownFields(options, [...known, ...own]),
    ...Object.entries(options).flatMap(([option, value]): Issue[] => {
      const possible = choices[option]
      const isModel = option === 'model' && value !== undefined && typeof value !== 'string'
      if (!isModel && (possible === undefined || value === undefined || possible.includes(value))) return []
      const wanted = isModel
        ? 'the name of a model'
        : possible?.map((each) => JSON.stringify(each)).join(' or ')
      return [{ pointer: `/${option}`, code: 'wrong_value', message: `It must be ${wanted}.` }]
    }),
  ]
  if (issues.length > 0)
    throw new SetupError('invalid_options', `The options of the door to ${provider} cannot be used.`, issues)
}
