import type { CallRequest } from '../../contract/call-request.ts'
import type { PendingApproval, PendingApprovals, WaitingCall } from '../../contract/pending-approval.ts'
import type { Session, StepOptions } from '../../contract/runtime.ts'
import { createPlaces } from '../../kit/create-places.ts'
import { createBatch, type CallEnd } from './create-batch.ts'
import type { SdkDoorOptions } from './door-options.ts'
import { presentTools, type WireTool, type WireTools } from './present-tools.ts'

/** One call as an SDK makes it. */
export interface SdkCall {
  /** That of the provider; empty if it gave none. */
  readonly id: string
  /** An object, or the JSON text of one. */
  readonly input: unknown
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: CallRequest['onProgress']
}

/** What every door for an agent SDK stands on. */
export interface SdkDoor {
  readonly tools: WireTools
  /** Runs a call, with those that are made beside it, as far as it goes without a person. */
  run(tool: WireTool, call: SdkCall): Promise<CallEnd>
  /**
   * Whether a call needs a person's yes; its question is kept in the store then. What let it run after all, such as an answer from another
   * program, has run it: the next `run` of the same call returns that end.
   */
  ask(tool: WireTool, call: SdkCall): Promise<WaitingCall | undefined>
  /** Whether a call would run now without a person. */
  runsUnasked(tool: WireTool, call: SdkCall): Promise<boolean>
  /** Says that these calls are about to come, in this order. */
  expect(calls: readonly (readonly [WireTool, SdkCall])[]): void
  /** The call as the session takes it. */
  toRequest(tool: WireTool, call: SdkCall): CallRequest
  /** The questions of this principal about the tool that are not used: that of this id, or else those about the call of this id. */
  findQuestions(tool: WireTool, of: { callId: string; id?: string | undefined }): readonly PendingApproval[]
}

/** So much is kept of calls that an SDK asked about and may never make. */
const mostKept = 1_000

/** Opens what the doors for agent SDKs share. `steps` says how calls that wait come back. */
export function createSdkDoor(
  session: Session,
  options: SdkDoorOptions,
  steps?: Pick<StepOptions, 'anew'>,
): SdkDoor {
  const { approvals, presentation } = options
  const tools = presentTools(session, options)
  const batch = createBatch(session, steps)
  const ends = new Map<string, CallEnd>()
  // An SDK asks about calls in the order of the model, and may make them in another one.
  const places = createPlaces(mostKept)
  const about = { origin: 'llm', ...(presentation !== undefined && { presentation }) } as const
  const toRequest = (tool: WireTool, { id, input, signal, onProgress }: SdkCall): CallRequest => {
    const request: CallRequest = { ...about, tool: tool.tool, input, rawName: tool.name }
    if (id !== '') request.id = id
    if (signal !== undefined) request.signal = signal
    if (onProgress !== undefined) request.onProgress = onProgress
    return request
  }
  const whileHeld = async <Result>(look: () => Promise<Result>): Promise<Result> => {
    const release = batch.hold()
    try {
      return await look()
    } finally {
      release()
    }
  }
  return {
    tools,
    toRequest,
    run(tool, call) {
      // Most calls were let run only now.
      const ran = ends.size === 0 ? undefined : take(ends, nameOf(tool, call))
      const place = places.take(idOf(tool, call), call.input)
      return ran === undefined ? batch.run(toRequest(tool, call), place) : Promise.resolve(ran)
    },
    async ask(tool, call) {
      const place = places.keep(idOf(tool, call), call.input)
      if (!(await whileHeld(() => session.asks(tool.tool, call.input, about)))) return undefined
      const end = await batch.run(toRequest(tool, call), place)
      if (end.waiting !== undefined) return end.waiting
      keep(ends, nameOf(tool, call), end)
      return undefined
    },
    expect(calls) {
      for (const [tool, call] of calls) places.keep(idOf(tool, call), call.input)
    },
    async runsUnasked(tool, { input }) {
      const { effect } = await whileHeld(() => session.preflight(tool.tool, input, about))
      return effect === 'allow'
    },
    findQuestions: (tool, of) => findQuestions(tool, of, { session, approvals }),
  }
}

function findQuestions(
  tool: WireTool,
  { callId, id: meant }: { callId: string; id?: string | undefined },
  { session, approvals }: { session: Session; approvals: PendingApprovals | undefined },
): readonly PendingApproval[] {
  const { tenant, actor, role } = session.principal
  return (approvals?.list({ tenant, state: 'all' }) ?? []).filter(
    ({ id, state, request: { toolCallId, principal, ...asked } }) =>
      state !== 'used' &&
      (meant === undefined ? toolCallId === callId : id === meant) &&
      asked.tool === tool.canonical &&
      principal.actor === actor &&
      principal.role === role,
  )
}

function keep<Value>(kept: Map<string, Value>, name: string, value: Value): void {
  kept.set(name, value)
  const [oldest] = kept.keys()
  if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
}

function take<Value>(kept: Map<string, Value>, name: string): Value | undefined {
  const value = kept.get(name)
  kept.delete(name)
  return value
}

/** A model may give several calls one id, and a provider none. */
function idOf({ tool }: WireTool, { id }: SdkCall): string {
  return `${tool} ${id}`
}

/** Names one call with its input: another input under the same id is another call. */
function nameOf({ tool }: WireTool, { id, input }: SdkCall): string {
  return JSON.stringify([id, tool, input])
}
