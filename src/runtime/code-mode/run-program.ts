import { hash } from 'node:crypto'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { ProgramLimits, ProgramReport } from '../../contract/services/code-mode.ts'
import type {
  ProgramBounds,
  ProgramCall,
  ProgramReply,
  ProgramState,
} from '../../contract/services/isolates.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import type { RunWatch } from '../limits/run-watch.ts'
import type { Admitted } from '../state/call-state.ts'
import { partOf, type Requested } from '../state/part-of.ts'
import type { CallScope } from '../state/scope.ts'
import { placeProgram, type ProgramPlace } from './program-place.ts'
import { toToolName } from './program-names.ts'
import { toReply } from './to-reply.ts'

const mebibyte = 1024 * 1024

/** What one program may take. */
function toBounds({ computeMs = 10_000, memoryMb = 64, calls = 500 }: ProgramLimits): ProgramBounds {
  return {
    memoryBytes: memoryMb * mebibyte,
    computeMs,
    calls,
    inputLength: mebibyte,
    printedLength: 64 * 1024,
    returnedLength: 256 * 1024,
  }
}

/** The call whose program is run. */
export interface ProgramRun {
  readonly limits: ProgramLimits
  readonly admitted: Admitted
  readonly scope: CallScope
  readonly watch: RunWatch
}

/** Runs a program to its end. The calls that it makes at a time are one turn of the session. */
export async function runProgram(code: string, run: ProgramRun): Promise<ProgramReport> {
  const { admitted, scope, watch } = run
  if (admitted.partOf?.inProgram === true)
    throw new ToolFailure({
      reason: 'nested_program',
      message: 'A program cannot start another program. Write what that one should do into this one.',
    })
  const place = await placeProgram(code, admitted, scope)
  const { at, id: seed } = place
  const about = { tenant: scope.session.principal.tenant, signal: watch.signal }
  const program = scope.tenant.isolates.open({ code, at, seed, bounds: toBounds(run.limits) }, about)
  let calls = 0
  try {
    let state = await program.next()
    while (state.type === 'calls') {
      if (calls === 0) await place.keep()
      const replies = await makeCalls(state.calls, { run, place, made: calls })
      calls += state.calls.length
      state = await program.next(replies)
    }
    return toReport(state, calls)
  } finally {
    program.close()
  }
}

/** Makes the calls of a program as one turn. Fails with `POLICY.APPROVAL_PENDING` if one of them waits for a person. */
async function makeCalls(
  calls: readonly ProgramCall[],
  { run, place, made }: { run: ProgramRun; place: ProgramPlace; made: number },
): Promise<readonly ProgramReply[]> {
  const { admitted, scope, watch } = run
  const requests = calls.map((each, index) => toRequest(each, { place, index: made + index }, run))
  const { results, waiting, order } = await scope.session.opened().step(requests, {
    signal: watch.signal,
    wait: admitted.parks === false,
    anew: admitted.parks === 'anew',
    once: place.goesOn,
  })
  watch.signal.throwIfAborted()
  const [question] = waiting
  if (question !== undefined)
    throw new ToolFailure({
      code: 'POLICY.APPROVAL_PENDING',
      reason: 'waiting',
      message: `The program waits for a person, who has to decide about its call of "${question.approval.request.tool}". It goes on when they have answered.`,
      data: { approval: question.approval.id, waiting: waiting.length },
    })
  if (place.goesOn) checkRecalled(results)
  const byId = new Map(results.map((result) => [result.callId, result]))
  return order.map((id) => {
    const result = byId.get(id)
    return result === undefined
      ? { ok: false, error: { message: 'The call has no result.' } }
      : toReply(result)
  })
}

/** Its id says what it calls, so that a program that goes on and calls something else is told nothing of another call. */
function toRequest(
  { name, input }: ProgramCall,
  { place, index }: { place: ProgramPlace; index: number },
  { admitted, scope }: ProgramRun,
): Requested {
  const { call, approve, elicit, caller } = admitted
  const tool = toToolName(name, scope.session)
  return {
    id: `${place.id}.${index}.${hash('sha256', `${tool} ${input}`, 'hex').slice(0, 16)}`,
    tool,
    input,
    origin: call.origin,
    ...(approve !== undefined && { approve }),
    ...(elicit !== undefined && { elicit }),
    caller,
    ...(call.model !== undefined && { model: call.model }),
    [partOf]: {
      call: call.id,
      part: String(index + 1),
      inProgram: true,
      seen: undefined,
      held: undefined,
    },
  }
}

function checkRecalled(results: readonly ToolResult[]): void {
  const stale = results.find(
    ({ error }) => error?.reason === 'approval_stale' && error.data?.['outcome'] !== undefined,
  )
  if (stale === undefined) return
  throw new ToolFailure({
    reason: 'program_stale',
    message: `The program cannot go on: what its call of "${stale.tool}" returned before it waited cannot be shown to it under the policy of now. Look at what it did (${stale.callId}), and write a program for the rest.`,
    data: { call: stale.callId },
  })
}

function toReport(state: Exclude<ProgramState, { type: 'calls' }>, calls: number): ProgramReport {
  const { printed } = state
  if (state.type === 'ended')
    return { returned: state.value === undefined ? undefined : parseJson(state.value), printed, calls }
  const { fault, message, line } = state
  const isLimit = fault === 'time' || fault === 'memory' || fault === 'returned'
  const where = line === undefined ? '' : ` (line ${line} of the program)`
  const did = calls === 0 ? '' : ` Calls that it had made: ${calls}. What they did stands.`
  throw new ToolFailure({
    reason: isLimit ? 'program_limit' : 'program_failed',
    message: `${fault === 'syntax' ? 'The program is not JavaScript or TypeScript that can run: ' : ''}${message}${where}${did}${printed === '' ? '' : `\nIt had printed:\n${printed.slice(0, 8_000)}`}`,
    data: { fault, calls, ...(line !== undefined && { line }) },
  })
}
