import type { ToolResult } from '../../contract/base/result.ts'
import type { PendingApproval, StepResult } from '../../contract/pending-approval.ts'
import type { CallRequest } from '../../contract/call-request.ts'
import type { Runtime, Session, SessionOptions } from '../../contract/runtime.ts'
import type { A2aPeer } from '../../contract/a2a/serving.ts'
import type { AskedCall } from './read-request.ts'
import type { Verified } from './verify-token.ts'

/** What calls of peers run with. */
export interface CallSurroundings {
  readonly runtime: Runtime
  /** Patterns of the tools that are open to peers. */
  readonly tools: readonly string[]
  /** Whether a person can be asked in this process while a call stands. Others can answer in any case. */
  readonly asksHere: boolean
}

/** How a call of a peer goes. */
export interface CallWatch {
  readonly signal: AbortSignal
  /** Told what the call waits for, and how far it is. */
  readonly onNews: (message: string) => void
}

/** A session as a peer has it: its own tools, of those that are open. */
export function openPeerSession({ runtime, tools }: CallSurroundings, peer: A2aPeer): Session {
  const session = runtime.session(toSessionOptions(peer))
  session.restrict({ allowedTools: tools })
  return session
}

function toSessionOptions({
  tenant,
  actor,
  role,
  mode,
  allowedTools,
  disallowedTools,
}: A2aPeer): SessionOptions {
  return {
    actor,
    ...(tenant !== undefined && { tenant }),
    ...(role !== undefined && { role }),
    ...(mode !== undefined && { mode }),
    ...(allowedTools !== undefined && { allowedTools }),
    ...(disallowedTools !== undefined && { disallowedTools }),
  }
}

/** Makes the call that a token was for, and waits for a person as long as that takes. */
export async function runCall(
  session: Session,
  about: { call: AskedCall; verified: Verified; watch: CallWatch },
  { runtime, asksHere }: CallSurroundings,
): Promise<ToolResult> {
  const { watch } = about
  const options = { signal: watch.signal, wait: asksHere }
  let step = await session.step([toRequest(about)], { ...options, origin: 'api' })
  for (let waiting = findWaiting(step); waiting !== undefined; waiting = findWaiting(step)) {
    watch.onNews('The call waits for a person on the other side.')
    await untilAnswered(runtime, waiting, watch.signal)
    step = await session.resume(step, options)
  }
  const [result] = step.results
  if (result === undefined) throw new Error('The call of a peer came to no end.')
  return result
}

function findWaiting({ waiting: [first] }: StepResult): PendingApproval | undefined {
  return first?.approval
}

function toRequest({
  call: { tool, input },
  verified: { peer, jti, key, idempotencyKey },
  watch,
}: {
  call: AskedCall
  verified: Verified
  watch: CallWatch
}): CallRequest {
  return {
    tool,
    input,
    counterpart: { domain: peer.issuer, call: jti, key },
    onProgress: ({ message }) => watch.onNews(message),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  }
}

/** Resolves when a question is no longer open, or when its call was aborted. */
async function untilAnswered(
  { approvals }: Runtime,
  { id }: PendingApproval,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = (): void => {
    if (approvals.find(id)?.state !== 'waiting') resolve()
  }
  const stop = approvals.watch(look)
  signal.addEventListener('abort', () => resolve(), { once: true })
  if (signal.aborted) resolve()
  try {
    await promise
  } finally {
    stop()
  }
}
