import { ToolFailure } from '../../contract/errors.ts'
import { callError } from '../../kit/call-error.ts'
import { toolOutput } from '../../kit/tool-output.ts'
import { createCallContext } from '../call-context.ts'
import { pass, stop, type AbortedRun, type Admitted, type Ran, type Stopped } from '../passage.ts'
import type { Road } from '../ground.ts'
import { createRunWatch, type RunEnd, type RunWatch } from '../run-watch.ts'
import { toCallError } from '../to-call-error.ts'

/**
 * Step 8: the tool runs, in the sandbox, within its time. Whatever it throws is an error of the call. A tool that ignores its
 * abort is answered without it.
 */
export function run(admitted: Admitted, road: Road): Ran | Stopped | Promise<Ran | Stopped> {
  const { slot } = admitted
  road.ground.observer?.enters(admitted.call, 'run')
  const watch = createRunWatch(admitted, road.session.endings, road.ground)
  if (watch.ended !== undefined) {
    slot.free()
    return begun(stop('run', admitted, endedError(watch.ended, admitted, road)))
  }
  let returned: unknown
  try {
    returned = startTool(admitted, road, watch)
  } catch (error) {
    slot.free()
    throw error
  }
  if (returned instanceof Promise) return follow(admitted, { returned, watch, road })
  slot.free()
  return toRan(admitted, returned, undefined)
}

function startTool(admitted: Admitted, road: Road, watch: RunWatch): unknown {
  const { tool } = admitted.registered
  const { observer } = road.ground
  const context = createCallContext(admitted, road, watch)
  const start = () => callTool(() => tool.run(admitted.decoded, context))
  return metered(
    admitted.budget?.meter,
    observer === undefined ? start : () => observer.within(admitted.call, start),
  )
}

/** Counts the CPU time of what a tool does before it first waits; what it does later cannot be told from other calls. */
function metered(meter: { cpuMs: number } | undefined, start: () => unknown): unknown {
  if (meter === undefined) return start()
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

function callTool(start: () => unknown): unknown {
  try {
    const returned = start()
    return isThenable(returned) ? Promise.resolve(returned) : returned
  } catch (error) {
    return new Thrown(error)
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

async function follow(
  admitted: Admitted,
  about: { returned: Promise<unknown>; watch: RunWatch; road: Road },
): Promise<Ran | Stopped> {
  const { returned, watch, road } = about
  const free = (): void => {
    admitted.slot.free()
    if (admitted.budget !== undefined) admitted.budget.heldMs = watch.heldMs
  }
  const first = await orThrown(watch.firstOf(returned, admitted.allowance.timeoutMs))
  if (first !== 'ended') {
    free()
    return toRan(admitted, first.value, undefined)
  }
  const ended = watch.ended ?? 'timeout'
  const { abortGraceMs } = road.ground.limits
  const late = await orThrown(watch.withinGrace(returned, abortGraceMs))
  if (late !== 'ended') {
    free()
    return toRan(admitted, late.value, { error: endedError(ended, admitted, road), reason: ended })
  }
  const error = ignoredAbort(ended, admitted.registered.definition.name, abortGraceMs)
  return { ...begun(stop('run', admitted, error)), outlived: returned.then(free, free) }
}

async function orThrown(
  waiting: Promise<{ value: unknown } | 'ended'>,
): Promise<{ value: unknown } | 'ended'> {
  try {
    return await waiting
  } catch (error) {
    return { value: new Thrown(error) }
  }
}

function toRan(admitted: Admitted, value: unknown, aborted: AbortedRun | undefined): Ran | Stopped {
  if (!(value instanceof Thrown)) return pass<Ran>(admitted, { returned: value, aborted })
  const ownError = value.error instanceof ToolFailure && /^TOOL\.(TIMEOUT|ABORTED)$/.test(value.error.code)
  const error =
    aborted === undefined || ownError
      ? toCallError(value.error, admitted.registered.definition.name)
      : aborted.error
  return pass<Ran>(admitted, { returned: toolOutput({ error }), aborted })
}

function begun(stopped: Stopped): Stopped {
  return { ...stopped, begun: true }
}

function endedError(ended: RunEnd, { call, registered, profile, allowance }: Admitted, { session }: Road) {
  const tool = registered.definition.name
  if (ended === 'timeout') {
    const why = allowance.timeoutMs < profile.timeoutMs ? ', which is all that its budgets leave' : ''
    return callError('TOOL.TIMEOUT', 'timed_out', {
      message: `"${tool}" was stopped at its time limit of ${allowance.timeoutMs} ms${why}. Ask for less at a time.`,
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

function ignoredAbort(ended: RunEnd, tool: string, graceMs: number) {
  const why = ended === 'timeout' ? 'reached its time limit' : 'was aborted'
  return callError('TOOL.TIMEOUT', 'still_running', {
    message: `"${tool}" ${why} and did not stop within ${graceMs} ms. It may still be running; its outcome is not known.`,
  })
}
