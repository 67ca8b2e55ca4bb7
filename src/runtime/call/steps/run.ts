import type { CallError } from '../../../contract/base/errors.ts'
import type { ToolContext } from '../../../contract/tool/tool.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { showDuration } from '../../../kit/time/show-duration.ts'
import { createCallContext, explainThrown } from './call-context.ts'
import { advance } from '../../state/advance.ts'
import { halt, type AbortedRun, type Admitted, type Ran, type Halted } from '../../state/call-state.ts'
import type { CallScope } from '../../state/scope.ts'
import { createRunWatch, type RunEnd, type RunWatch } from '../../limits/run-watch.ts'
import { toApprovedError, toCallError } from '../../state/to-call-error.ts'

/**
 * Step 8: the tool runs, in the sandbox, within its time. Whatever it throws is an error of the call. A tool that ignores its
 * abort is answered without it.
 */
export function run(admitted: Admitted, scope: CallScope): Ran | Halted | Promise<Ran | Halted> {
  const { slot } = admitted
  scope.tenant.observer?.enters(admitted.call, 'run')
  const watch = createRunWatch(admitted, scope.session.endings, scope.tenant.tick)
  if (watch.ended !== undefined) {
    slot.free()
    return { ...begun(halt('run', admitted, endedError(watch.ended, admitted, scope))), idle: true }
  }
  const context = createCallContext(admitted, scope, watch)
  let returned: unknown
  const begunAt = performance.now()
  try {
    returned = startTool(admitted, scope, context)
  } catch (error) {
    slot.free()
    throw error
  }
  if (returned instanceof Promise) return follow(admitted, { returned, begunAt, watch, scope, context })
  watch.answer()
  slot.free()
  const isLate = performance.now() - begunAt > admitted.allowance.timeoutMs
  return toRan(admitted, returned, isLate ? tooLate(returned, admitted) : undefined)
}

function startTool(admitted: Admitted, { tenant }: CallScope, context: ToolContext): unknown {
  const { observer } = tenant
  const meter = admitted.budget?.meter
  // Most calls have neither.
  if (observer === undefined && meter === undefined) return callTool(admitted, context)
  const start = () => callTool(admitted, context)
  const observed = observer === undefined ? start : () => observer.within(admitted.call, start)
  return meter === undefined ? observed() : metered(meter, observed)
}

/** Counts the CPU time of what a tool does before it first waits; what it does later cannot be told from other calls. */
function metered(meter: { cpuMs: number }, start: () => unknown): unknown {
  const before = process.threadCpuUsage()
  const returned = start()
  const { user, system } = process.threadCpuUsage(before)
  meter.cpuMs += (user + system) / 1000
  return returned
}

/** A thrown error, held until it is looked at. */
class Thrown {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

function callTool({ registered, partOf, decoded }: Admitted, context: ToolContext): unknown {
  const segment = partOf?.segment
  try {
    const returned = segment === undefined ? registered.tool.run(decoded, context) : segment.run(context)
    if (isPlainPromise(returned)) return returned
    return isThenable(returned) ? awaitTool(returned) : returned
  } catch (error) {
    return new Thrown(explainThrown(error, context))
  }
}

/** Whether it is a promise of the engine, of which nothing was changed. */
function isPlainPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise && value.constructor === Promise && value.then === Promise.prototype.then
}

/** What a tool made of a promise may answer several times, or throw: a promise of the engine does not. */
async function awaitTool(returned: PromiseLike<unknown>): Promise<unknown> {
  return returned
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

interface Following {
  readonly returned: Promise<unknown>
  readonly begunAt: number
  readonly watch: RunWatch
  readonly scope: CallScope
  readonly context: ToolContext
}

function follow(admitted: Admitted, about: Following): Promise<Ran | Halted> {
  const { returned, begunAt, watch, context } = about
  const ended = (value: unknown): Ran | Halted => {
    watch.answer()
    free(admitted, watch)
    return toRan(admitted, value, watch.ended === undefined ? undefined : tooLate(value, admitted))
  }
  return watch.firstOf(returned, admitted.allowance.timeoutMs, begunAt).then(
    (first) => (first === 'ended' ? followEnd(admitted, about) : ended(first.value)),
    (error: unknown) => ended(new Thrown(explainThrown(error, context))),
  )
}

/** A tool that was told to end has its grace to do so. */
async function followEnd(
  admitted: Admitted,
  { returned, watch, scope, context }: Following,
): Promise<Ran | Halted> {
  const ended = watch.ended ?? 'timeout'
  const { abortGraceMs } = scope.tenant.limits
  const late = await orThrown(watch.withinGrace(returned, abortGraceMs), context)
  watch.answer()
  if (late !== 'ended') {
    free(admitted, watch)
    return toRan(admitted, late.value, {
      error: endedError(ended, admitted, scope),
      reason: ended,
      said: scope.session.endings.aborted.get(admitted.call.id),
    })
  }
  admitted.waitedMs = watch.heldMs
  const error = ignoredAbort(ended, admitted.registered.definition.name, abortGraceMs)
  const output = { metadata: { aborted: true, partial: false, abortReason: ended } }
  const freeLate = (): void => free(admitted, watch)
  return { ...begun(halt('run', admitted, error)), output, outlived: returned.then(freeLate, freeLate) }
}

function free(admitted: Admitted, watch: RunWatch): void {
  admitted.slot.free()
  admitted.waitedMs = watch.heldMs
}

async function orThrown(
  waiting: Promise<{ value: unknown } | 'ended'>,
  context: ToolContext,
): Promise<{ value: unknown } | 'ended'> {
  try {
    return await waiting
  } catch (error) {
    return { value: new Thrown(explainThrown(error, context)) }
  }
}

function toRan(admitted: Admitted, value: unknown, aborted: AbortedRun | undefined): Ran | Halted {
  if (!(value instanceof Thrown)) {
    const returned = isUnpermitted(admitted) ? toolOutput({ error: neverAsked(admitted) }) : value
    return advance.run(admitted, { returned, aborted })
  }
  const toError = admitted.approval === undefined ? toCallError : toApprovedError
  const thrown = toError(value.error, admitted.registered.definition.name)
  const error = aborted === undefined || tellsEnd(thrown, aborted) ? thrown : aborted.error
  return advance.run(admitted, { returned: toolOutput({ error }), aborted })
}

/** Whether a tool that was told to end says so itself, and why it was. */
function tellsEnd({ code }: CallError, { reason }: AbortedRun): boolean {
  return code === 'TOOL.TIMEOUT' || (code === 'TOOL.ABORTED' && reason !== 'timeout')
}

/** A call that was to be asked about once it had run, and was not: nothing of it may be shown. */
function isUnpermitted({ deferred, answer }: Admitted): boolean {
  return deferred && (answer === undefined || answer.decision === 'deny')
}

function neverAsked({ registered }: Admitted) {
  return callError('POLICY.APPROVAL_DENIED', 'callback_failed', {
    message: `"${registered.definition.name}" needs a person's yes, and none was given while it ran. Nothing of what it did was kept.`,
  })
}

function begun(halted: Halted): Halted {
  return { ...halted, begun: true }
}

function endedError(
  ended: RunEnd,
  { call, registered, profile, allowance }: Admitted,
  { session }: CallScope,
) {
  const tool = registered.definition.name
  if (ended === 'timeout') {
    const why = allowance.timeoutMs < profile.timeoutMs ? ', which is all that its budgets leave' : ''
    return callError('TOOL.TIMEOUT', 'timed_out', {
      message: `"${tool}" was stopped at its time limit of ${showDuration(allowance.timeoutMs)}${why}. Ask for less at a time.`,
    })
  }
  if (ended === 'run_cancelled')
    return callError('TOOL.ABORTED', 'run_cancelled', {
      message: `"${tool}" was stopped because its turn or session ended.`,
    })
  const said = session.endings.aborted.get(call.id)
  return callError('TOOL.ABORTED', 'aborted_by_user', {
    message: `"${tool}" was aborted${said === undefined ? '.' : `: ${said}`}`,
  })
}

/** A tool that ended after its time, did not fail by itself, and let nothing else run that could stop it. */
function tooLate(value: unknown, { registered, allowance }: Admitted): AbortedRun | undefined {
  if (value instanceof Thrown) return undefined
  const { name } = registered.definition
  return {
    reason: 'timeout',
    error: callError('TOOL.TIMEOUT', 'timed_out', {
      message: `"${name}" took longer than its time limit of ${allowance.timeoutMs} ms and let nothing else run meanwhile, so that it could not be stopped. It has ended, and what it did stands. Ask for less at a time.`,
    }),
  }
}

function ignoredAbort(ended: RunEnd, tool: string, graceMs: number) {
  const why = ended === 'timeout' ? 'reached its time limit' : 'was aborted'
  return callError('TOOL.TIMEOUT', 'still_running', {
    message: `"${tool}" ${why} and did not stop within ${showDuration(graceMs)}. It may still be running; its outcome is not known.`,
  })
}
