import type { Issue } from '../../contract/base/json.ts'
import type { CallObserver, TelemetryOptions } from '../../contract/telemetry.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import type { RuntimeOptions } from './runtime-options.ts'

const needed = {
  tracer: ['startSpan'],
  meter: ['createCounter', 'createUpDownCounter', 'createHistogram'],
} as const satisfies { readonly [field in keyof TelemetryOptions]: readonly string[] }

const observing: readonly (keyof CallObserver)[] = ['began', 'enters', 'within', 'ended']

/** Issues of the options that say who watches the calls. */
export function checkTelemetry({ telemetry, observers = [] }: RuntimeOptions): Issue[] {
  const watching = observers.map((given, index) => findMissing(given, observing, `/observers/${index}`))
  return [...checkOwn(telemetry), ...watching.flat()]
}

function checkOwn(telemetry: RuntimeOptions['telemetry']): Issue[] {
  if (telemetry === undefined || typeof telemetry === 'boolean') return []
  if (!isPlainObject(telemetry))
    return [{ pointer: '/telemetry', code: 'wrong_type', message: 'Give true, or a tracer and a meter.' }]
  const { tracer, meter }: TelemetryOptions = telemetry
  return [
    ...findUnknownFields(telemetry, ['tracer', 'meter']).map((issue) => ({
      ...issue,
      pointer: `/telemetry${issue.pointer}`,
    })),
    ...(tracer === undefined ? [] : findMissing(tracer, needed.tracer, '/telemetry/tracer')),
    ...(meter === undefined ? [] : findMissing(meter, needed.meter, '/telemetry/meter')),
  ]
}

function findMissing(given: object, methods: readonly string[], pointer: string): Issue[] {
  const isThing = typeof given === 'object' && given !== null
  const missing = methods.filter((method) => !isThing || typeof Reflect.get(given, method) !== 'function')
  if (missing.length === 0) return []
  return [{ pointer, code: 'wrong_type', message: `It lacks the functions ${missing.join(', ')}.` }]
}
