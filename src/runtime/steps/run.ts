import { ToolFailure } from '../../contract/errors.ts'
import { callError } from '../../kit/call-error.ts'
import { toolOutput } from '../../kit/tool-output.ts'
import { createCallContext } from '../call-context.ts'
import { pass, stop, type AbortedRun, type Admitted, type Ran, type Stopped } from '../passage.ts'
import type { Road } from '../ground.ts'
import { createRunWatch, type RunWatch } from '../run-watch.ts'
import { toCallError } from '../to-call-error.ts'

/**
 * Step 8: the tool runs, in the sandbox, within its time. Whatever it throws is an error of the call. A tool that ignores its
 * abort is answered without it.
 */
export function run(admitted: Admitted, road: Road): Ran | Stopped | Promise<Ran | Stopped> {
  const { tool, definition } = admitted.registered
  const watch = createRunWatch(admitted.signal, road.session.closing)
  if (watch.ended !== undefined)
    return begun(stop('run', admitted, endedError(watch.ended, definition.name, admitted)))
  const context = createCallContext(admitted, road, watch)
  const returned = metered(admitted.budget?.meter, () => callTool(() => tool.run(admitted.decoded, context)))
  if (!(returned instanceof Promise)) return toRan(admitted, returned, undefined)
  return follow(admitted, { returned, watch, graceMs: road.ground.limits.abortGraceMs })
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
  about: { returned: Promise<unknown>; watch: RunWatch; graceMs: number },
): Promise<Ran | Stopped> {
  const { returned, watch, graceMs } = about
  const first = await orThrown(watch.firstOf(returned, admitted.allowance.timeoutMs))
  if (first !== 'ended') return toRan(admitted, first.value, undefined)
  const name = admitted.registered.definition.name
  const ended = watch.ended ?? 'timeout'
  const late = await orThrown(watch.withinGrace(returned, graceMs))
  if (late === 'ended') return begun(stop('run', admitted, ignoredAbort(ended, name, graceMs)))
  return toRan(admitted, late.value, { error: endedError(ended, name, admitted), reason: ended })
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

function endedError(ended: NonNullable<RunWatch['ended']>, tool: string, { allowance }: Admitted) {
  if (ended === 'timeout') {
    return callError('TOOL.TIMEOUT', 'timed_out', {
      message: `"${tool}" was stopped at its time limit of ${allowance.timeoutMs} ms. Ask for less at a time.`,
    })
  }
  if (ended === 'run_cancelled')
    return callError('TOOL.ABORTED', 'run_cancelled', {
      message: `"${tool}" was stopped because its turn or session ended.`,
    })
  return callError('TOOL.ABORTED', 'aborted_by_user', { message: `"${tool}" was aborted.` })
}

function ignoredAbort(ended: NonNullable<RunWatch['ended']>, tool: string, graceMs: number) {
  const why = ended === 'timeout' ? 'reached its time limit' : 'was aborted'
  return callError('TOOL.TIMEOUT', 'still_running', {
    message: `"${tool}" ${why} and did not stop within ${graceMs} ms. It may still be running; its outcome is not known.`,
  })
}
