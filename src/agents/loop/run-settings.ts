import type { RunOptions } from '../../contract/runtime.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { JsonSchema, SchemaChecker } from '../../contract/base/schema.ts'
import type { Session, SessionOptions } from '../../contract/runtime.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'

/** What of the options of a run is kept with it, so that it goes on as it began. */
export type RunSettings = Pick<
  RunOptions,
  | 'system'
  | 'instructions'
  | 'maxTurns'
  | 'presentation'
  | 'contextTokens'
  | 'maxOutputTokens'
  | 'temperature'
  | 'providerOptions'
  | 'price'
  | 'output'
> & {
  /** How its session was opened; absent if the program opened it. */
  readonly session?: KeptSessionOptions
  /** The skills that there were when it began, as its model is told of them: the same in every request. */
  readonly skills?: string
}

export type KeptSessionOptions = Pick<
  SessionOptions,
  | 'id'
  | 'role'
  | 'mode'
  | 'tenant'
  | 'actor'
  | 'agent'
  | 'model'
  | 'allowedTools'
  | 'disallowedTools'
  | 'standingConsents'
  | 'claims'
>

const tokens: JsonSchema = { type: 'integer', minimum: 1, maximum: 1e9 }
const price: JsonSchema = { type: 'number', minimum: 0 }

const kept: { readonly [field in keyof Omit<RunSettings, 'session' | 'skills'>]-?: JsonSchema } = {
  system: { type: 'string' },
  instructions: { type: 'array', items: { type: 'string' } },
  maxTurns: { type: 'integer', minimum: 1, maximum: 100_000 },
  presentation: { enum: ['canonical', 'compatible'] },
  contextTokens: { type: 'integer', minimum: 1_000, maximum: 1e9 },
  maxOutputTokens: tokens,
  temperature: { type: 'number', minimum: 0 },
  providerOptions: { type: 'object' },
  price: {
    type: 'object',
    properties: { input: price, output: price, cachedInput: price },
    required: ['input', 'output'],
    additionalProperties: false,
  },
  output: { type: 'object' },
}

const plain: JsonSchema = {
  type: 'object',
  properties: {
    ...kept,
    prompt: { type: 'string', pattern: '\\S' },
    resume: { type: 'string', minLength: 1 },
    wait: { type: 'boolean' },
  },
}

const rich = ['model', 'session', 'signal'] as const

/** Every issue of the options of a run. */
export function checkRunOptions(given: RunOptions, checker: SchemaChecker): readonly Issue[] {
  const { model, session: _session, signal, ...rest } = given
  const checked = checker.check(plain, withoutUndefined(rest))
  return [
    ...findUnknownFields(given, [...rich, ...Object.keys(plain.properties ?? {})]),
    ...(checked.ok ? [] : checked.issues),
    ...(given.prompt === undefined && given.resume === undefined
      ? [
          {
            pointer: '/prompt',
            code: 'missing',
            message: 'Say what the agent is to do, or with "resume" which run goes on.',
          },
        ]
      : []),
    ...checkModel(model),
    ...(signal === undefined || signal instanceof AbortSignal
      ? []
      : [{ pointer: '/signal', code: 'wrong_type', message: 'It must be an AbortSignal.' }]),
    ...(given.output === undefined
      ? []
      : checker
          .inspect(given.output, 'own')
          .map((issue) => ({ ...issue, pointer: `/output${issue.pointer}` }))),
  ]
}

/** What of the options is kept. */
export function toSettings(given: RunOptions): RunSettings {
  return withoutUndefined(
    Object.fromEntries(
      Object.keys(kept).map((field) => [field, structuredClone(given[field as keyof typeof kept])]),
    ),
  )
}

function checkModel(model: unknown): Issue[] {
  const isModel =
    typeof model === 'object' &&
    model !== null &&
    'doStream' in model &&
    typeof model.doStream === 'function' &&
    'provider' in model &&
    typeof model.provider === 'string' &&
    'modelId' in model &&
    typeof model.modelId === 'string'
  if (isModel) return []
  const hint = typeof model === 'string' ? ' A name alone is none.' : ''
  const message = `It must be a language model of the AI SDK, such as openai('gpt-5') of @ai-sdk/openai.${hint}`
  return [{ pointer: '/model', code: 'wrong_type', message }]
}

function withoutUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Value
}

/** What of the options of a session is kept with the run that opened it. */
export function toKeptSession(given: SessionOptions, id: string): KeptSessionOptions {
  const { role, mode, tenant, actor, agent, model, allowedTools, disallowedTools, standingConsents, claims } =
    given
  return withoutUndefined(
    structuredClone({
      id,
      role,
      mode,
      tenant,
      actor,
      agent,
      model,
      allowedTools,
      disallowedTools,
      standingConsents,
      claims,
    }),
  ) as KeptSessionOptions
}

/** Whether a session was handed in, rather than how to open one. */
export function isSession(given: RunOptions['session']): given is Session {
  return given !== undefined && 'step' in given
}
