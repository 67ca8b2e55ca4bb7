import type * as Api from '@opentelemetry/api'
import type { Call } from '../contract/base/call.ts'
import { SetupError } from '../contract/base/errors.ts'
import type { CallObserver, TelemetryOptions } from '../contract/telemetry.ts'
import { copyJson } from '../kit/json/copy-json.ts'
import { joinObservers } from '../telemetry/join-observers.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'
import { importPackage } from '../kit/import-package.ts'
import { messageOf } from '../kit/text/message-of.ts'

/**
 * All observers of the calls of a runtime, as one; undefined if there are none. OpenTelemetry is loaded only if it is
 * asked for; a SetupError says so if it is not installed.
 */
export async function openObserver(
  { telemetry = false, observers = [] }: RuntimeOptions,
  onError: NonNullable<RuntimeOptions['onError']>,
): Promise<CallObserver | undefined> {
  const others = observers.map(withCopies)
  if (telemetry === false) return joinObservers(others, onError)
  const own = await openTelemetry(telemetry === true ? {} : telemetry)
  return joinObservers([...own, ...others], onError)
}

/** The program's own observers are told copies: the same one of a call each time, as they may keep things by it. */
function withCopies(observer: CallObserver): CallObserver {
  const copies = new WeakMap<Call, Call>()
  const copyOf = (call: Call): Call => {
    let copy = copies.get(call)
    if (copy === undefined) copies.set(call, (copy = { ...call, input: copyJson(call.input) }))
    return copy
  }
  return {
    began: (call) => observer.began(copyOf(call)),
    enters: (call, stage) => observer.enters(copyOf(call), stage),
    within: (call, run) => observer.within(copyOf(call), run),
    ended: (call, result, facts) => observer.ended(copyOf(call), copyJson(result), { ...facts }),
  }
}

async function openTelemetry(options: TelemetryOptions): Promise<CallObserver[]> {
  const api = await loadApi()
  const { observeMetrics } = await import('../telemetry/observe-metrics.ts')
  const { observeTraces } = await import('../telemetry/observe-traces.ts')
  const { toOtelSink } = await import('../telemetry/to-otel-sink.ts')
  // They have what is called of them: the options were checked.
  const { tracer, meter } = options as { tracer?: Api.Tracer; meter?: Api.Meter }
  return [
    observeTraces(api, tracer ?? api.trace.getTracer('handrail')),
    observeMetrics(toOtelSink(meter ?? api.metrics.getMeter('handrail'))),
  ]
}

async function loadApi(): Promise<typeof Api> {
  try {
    return await importPackage<typeof Api>('@opentelemetry/api')
  } catch (cause) {
    const reason = messageOf(cause)
    throw new SetupError('invalid_options', 'These options cannot be used:', [
      {
        pointer: '/telemetry',
        code: 'missing_package',
        message: `Telemetry goes through "@opentelemetry/api", which cannot be loaded (${reason}). Install it, or leave "telemetry" out.`,
      },
    ])
  }
}
