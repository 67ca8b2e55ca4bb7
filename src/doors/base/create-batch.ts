import type { ToolResult } from '../../contract/base/result.ts'
import type { CallRequest } from '../../contract/call-request.ts'
import type { StepResult, WaitingCall } from '../../contract/pending-approval.ts'
import type { Session, StepOptions } from '../../contract/runtime.ts'

/** What became of one call: it is over, or it waits for a person. */
export type CallEnd =
  | { readonly result: ToolResult; readonly waiting?: undefined }
  | { readonly waiting: WaitingCall; readonly result?: undefined }

/** Runs calls that an SDK makes side by side as one step. */
export interface Batch {
  /** Calls of one step run in the order of their places. Rejects only if the session itself fails, never for what happened to the call. */
  run(call: CallRequest, place: number): Promise<CallEnd>
  /** Lets no step start until the function that this returns is called: another call is about to come. */
  hold(): () => void
}

interface Entry {
  readonly call: CallRequest
  readonly place: number
  readonly end: PromiseWithResolvers<CallEnd>
}

/**
 * Collects the calls of one tick, until the next macrotask, and runs them as one step of the session: so a write still runs alone, calls start
 * in the order in which the model made them, and what comes after a failed write does not run.
 */
export function createBatch(session: Pick<Session, 'step'>, options: StepOptions = {}): Batch {
  let entries: Entry[] = []
  let holds = 0
  let isScheduled = false
  const flush = (): void => {
    isScheduled = false
    if (holds > 0 || entries.length === 0) return
    const taken = entries.toSorted((left, right) => left.place - right.place)
    entries = []
    void runAll((calls) => session.step(calls, options), taken)
  }
  const schedule = (): void => {
    if (isScheduled || entries.length === 0) return
    isScheduled = true
    setImmediate(flush)
  }
  return {
    run(call, place) {
      const end = Promise.withResolvers<CallEnd>()
      entries.push({ call, place, end })
      schedule()
      return end.promise
    },
    hold() {
      holds++
      return () => {
        holds--
        schedule()
      }
    },
  }
}

async function runAll(
  step: (calls: readonly CallRequest[]) => Promise<StepResult>,
  entries: readonly Entry[],
): Promise<void> {
  try {
    const ends = endsOf(await step(entries.map(({ call }) => call)))
    for (const [index, { end }] of entries.entries()) {
      const found = ends[index]
      if (found === undefined) end.reject(new Error('The step has no result for one of its calls.'))
      else end.resolve(found)
    }
  } catch (error) {
    for (const { end } of entries) end.reject(error)
  }
}

/** What became of each call of a step, in their order. */
function endsOf({ results, waiting, order }: StepResult): readonly (CallEnd | undefined)[] {
  // perf: of most steps no call waits.
  if (waiting.length === 0) return results.map((result) => ({ result }))
  const ends = new Map<string, CallEnd>([
    ...results.map((result) => [result.callId, { result }] as const),
    ...waiting.map((each) => [each.callId, { waiting: each }] as const),
  ])
  return order.map((id) => ends.get(id))
}
