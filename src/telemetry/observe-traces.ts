import type * as Api from '@opentelemetry/api'
import type { Call } from '../contract/base/call.ts'
import type { ToolResult } from '../contract/base/result.ts'
import type { CallFacts, CallObserver } from '../contract/telemetry.ts'

/** The span of a call, and the context that its tool runs in. */
interface Traced {
  readonly span: Api.Span
  readonly context: Api.Context
}

/**
 * One span for each call, as the semantic conventions for generative AI name a tool execution. Its parent is what the call names in
 * `trace`, otherwise the span that is active where the call is made. Neither inputs nor results are in it.
 */
export function observeTraces(api: typeof Api, tracer: Api.Tracer): CallObserver {
  const traced = new Map<Call, Traced>()
  return {
    began(call) {
      const parent = parentOf(call, api)
      const about = { kind: api.SpanKind.INTERNAL, attributes: attributesOf(call) }
      const span = tracer.startSpan('execute_tool', about, parent)
      traced.set(call, { span, context: api.trace.setSpan(parent, span) })
    },
    enters(call, stage) {
      // Waiting for a person is not work of the tool; the span shows when it began and ended.
      if (stage !== 'record') traced.get(call)?.span.addEvent(`handrail.${stage}`)
    },
    within(call, run) {
      const own = traced.get(call)
      return own === undefined ? run() : api.context.with(own.context, run)
    },
    ended(call, result, facts) {
      const span = traced.get(call)?.span
      if (span === undefined) return
      traced.delete(call)
      describeEnd(span, result, facts)
      if (result.error !== undefined)
        span.setStatus({ code: api.SpanStatusCode.ERROR, message: result.error.reason })
      span.end()
    },
  }
}

function attributesOf({ tool, toolCallId, id, origin, session, principal }: Call): Api.Attributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': String(tool).slice(0, 200),
    'gen_ai.tool.call.id': toolCallId,
    'gen_ai.tool.type': 'function',
    'handrail.call.id': id,
    'handrail.session': session,
    'handrail.tenant': principal.tenant,
    'handrail.role': principal.role,
    'handrail.origin': origin,
  }
}

/** A name that no tool has comes from a model and stays out of the name of the span. */
function describeEnd(span: Api.Span, result: ToolResult, { definition, decision }: CallFacts): void {
  if (definition !== undefined) span.updateName(`execute_tool ${definition.name}`)
  span.setAttribute('gen_ai.tool.name', result.tool)
  span.setAttribute('handrail.outcome', result.outcome)
  if (decision !== undefined) {
    const { effect, layer, rule } = decision
    span.setAttributes({
      'handrail.decision.effect': effect,
      'handrail.decision.layer': layer,
      'handrail.decision.rule': rule,
    })
  }
  if (result.metadata.replayed === true) span.setAttribute('handrail.replayed', true)
  if (result.error !== undefined)
    span.setAttributes({ 'error.type': result.error.code, 'handrail.reason': result.error.reason })
}

/** What a caller says of its trace counts more than what happens to be active where its call arrives. */
function parentOf({ trace }: Call, api: typeof Api): Api.Context {
  const active = api.context.active()
  if (trace === undefined) return active
  const [, traceId = '', spanId = '', flags = ''] = trace.split('-')
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return api.isSpanContextValid(parent) ? api.trace.setSpanContext(active, parent) : active
}
