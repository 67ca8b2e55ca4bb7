import type { ApprovalAnswer, Approver } from '../../contract/approval.ts'
import type { BeginRecord } from '../../contract/evidence.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { PreToolUseHook } from '../../contract/hook.ts'
import type { RecordedCall } from '../../evidence/read-calls.ts'
import { toRecordedOutput } from '../../evidence/to-recorded-output.ts'
import type { RecordingHead } from './recorded-tools.ts'

/** What the world did to one call after the other, as it was recorded: its tools, its people, its hooks and its clock. */
export interface Recording extends RecordingHead {
  /** The call that is played from here on. `scope` is what its plan names as its scope. */
  load(call: RecordedCall, scope: string): void
  /** Whether the tool was run since the call was loaded. */
  readonly ran: boolean
  /** Aborted when the recorded call was aborted while a person was asked. */
  readonly signal: AbortSignal
  readonly approve: Approver
  readonly hook: PreToolUseHook
  /** Milliseconds since the epoch: when the call began, and once it ran, when it ended. */
  now(): number
}

/** A recording of what began at this time, before its first call. */
export function createRecording(startedAt: number): Recording {
  let loaded: RecordedCall | undefined
  let scope = ''
  let plans = 0
  let ran = false
  let aborting = new AbortController()

  const current = (): RecordedCall => {
    if (loaded === undefined) throw new Error('No call of the recording is played.')
    return loaded
  }
  return {
    load(next, nextScope) {
      loaded = next
      scope = nextScope
      plans = 0
      ran = false
      aborting = new AbortController()
    },
    get ran() {
      return ran
    },
    get signal() {
      return aborting.signal
    },
    now() {
      const began = loaded?.begin.at ?? startedAt
      return ran ? (loaded?.end?.at ?? began) : began
    },
    plan() {
      const call = current()
      plans++
      if (failedInPlan(call)) throw toFailure(call)
      // What the person said yes to was planned anew after the answer, and had changed.
      if (plans > 1 && wentStaleWhileAsked(call)) throw toFailure(call)
      return { operations: call.operations, scope }
    },
    run(tool) {
      const call = current()
      ran = true
      if (call.result === undefined || !ranInRecording(call)) throw notRun(tool)
      return toRecordedOutput(call.result)
    },
    approve() {
      const call = current()
      if (call.end?.code === 'TOOL.ABORTED' && approvalOf(call) === undefined) {
        aborting.abort()
        return new Promise(() => {})
      }
      return Promise.resolve(answerOf(call))
    },
    hook: {
      name: 'recorded',
      before() {
        const call = current()
        if (call.end?.code !== 'POLICY.HOOK_DENIED') return { decision: 'allow' }
        if (call.end.reason === 'hook_failed') throw new Error('it failed when the call was recorded')
        return { decision: 'deny', reason: 'it denied the recorded call' }
      },
    },
  }
}

/** The profile is there before the plan, the decision after it. Between the two, keys and the counts of the session may end a call as well. */
function failedInPlan({ begin, end, result }: RecordedCall): boolean {
  if (begin.profile === undefined || begin.decision !== undefined || begin.plan !== undefined) return false
  if (result?.metadata.replayed === true || result?.error?.data?.['consent'] !== undefined) return false
  return end?.code !== undefined && !/^(IDEMPOTENCY|QUOTA)\./.test(end.code)
}

function wentStaleWhileAsked(call: RecordedCall): boolean {
  return call.end?.reason === 'approval_stale' && approvalOf(call) === undefined
}

const endsBefore = /^(POLICY\.HOOK_DENIED|QUOTA|IDEMPOTENCY)/

function ranInRecording(call: RecordedCall): boolean {
  const { begin, end, result } = call
  const passed = begin.decision?.effect === 'allow' || approvalOf(call) !== undefined
  return passed && result?.metadata.replayed !== true && !endsBefore.test(end?.code ?? '')
}

function toFailure({ result }: RecordedCall): ToolFailure {
  const { code = 'TOOL.FAILED', reason = 'failed', message = '', data } = result?.error ?? {}
  return new ToolFailure({ code, reason, message, ...(data !== undefined && { data }) })
}

function notRun(tool: string): ToolFailure {
  return new ToolFailure({
    reason: 'not_recorded',
    message: `"${tool}" would run now and did not when the call was recorded, so there is nothing that it would give.`,
  })
}

/** The yes of a person: to the call before it ran, or to what it did. */
function approvalOf({ begin, end }: RecordedCall): BeginRecord['approval'] {
  return begin.approval ?? (end?.approval?.decision === 'deny' ? undefined : end?.approval)
}

/** What the person said. No yes is made up: what is not recorded counts as no. */
function answerOf(call: RecordedCall): ApprovalAnswer {
  const approval = approvalOf(call)
  if (approval === undefined) {
    if (wentStaleWhileAsked(call)) return { decision: 'allow_once' }
    return { decision: 'deny' }
  }
  return {
    decision: approval.decision === 'allow_for_session' ? 'allow_for_session' : 'allow_once',
    ...(approval.reason !== undefined && { reason: approval.reason }),
  }
}
