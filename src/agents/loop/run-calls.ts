import type { TranscriptNode } from '../../contract/agent-run.ts'
import type { Json } from '../../contract/base/json.ts'
import type { StepResult } from '../../contract/pending-approval.ts'
import { readCalls } from '../../doors/language-model/open-model-calls.ts'
import type { DoorResults, DoorStep } from '../../doors/base/model-door.ts'
import type { ModelAnswer, ModelMessage, ModelPart } from '../../doors/language-model/messages.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { NewNode, OpenRun, RunEnd } from './run-state.ts'

/** Runs the calls of an answer, and keeps what goes back to the model. */
export async function runCalls(
  run: OpenRun,
  node: TranscriptNode & { type: 'assistant' },
): Promise<RunEnd | undefined> {
  const answer: ModelAnswer = { ...node, content: node.content as unknown as ModelPart[] }
  const before = run.kept.step?.taken.results ?? []
  const told = new Set(before.map(({ callId }) => callId))
  let results = await start(run, answer)
  let isAborted = tellEnded(run, results.step, told)
  while (results.waiting.length > 0) {
    tellWaiting(run, results.step.taken)
    await run.save({ step: results.step })
    if (isAborted) return { endReason: 'aborted_tools' }
    if (!run.wait) return { endReason: 'approval_pending' }
    await untilDecided(run, results.step.taken)
    if (run.signal.aborted) return { endReason: 'aborted_tools' }
    results = await run.calls.resume(results.step, { signal: run.signal })
    isAborted = tellEnded(run, results.step, told)
  }
  const [message] = results.messages
  const { order } = results.step.taken
  const content = typeof message?.content === 'string' ? [] : (message?.content ?? [])
  const reply: NewNode = { type: 'tool', content: content as unknown as Json[], calls: order }
  await run.save({ step: null, hasOpenCalls: false }, [...newInstructions(run), reply], { early: true })
  if (isAborted) return { endReason: 'aborted_tools' }
  const error = results.step.taken.results.find(isOutOfCalls)?.error
  return error && { endReason: 'budget_exceeded', error }
}

/** What calls of this process have read since it was kept last. */
function newInstructions({ session, nodes }: OpenRun): NewNode[] {
  return session
    .instructions()
    .filter(({ path, text }) => {
      const known = nodes.findLast((node) => node.type === 'instructions' && node.path === path)
      return known?.type !== 'instructions' || known.text !== text
    })
    .map(({ path, scope, text }) => ({ type: 'instructions', path, scope, text }))
}

/** The session may make no more calls. Of a budget, which may be one of a single tool, the model is told. */
function isOutOfCalls({ error }: ToolResult): boolean {
  return (
    error?.code === 'QUOTA.BUDGET_EXCEEDED' &&
    error.reason === 'calls' &&
    error.data?.['budget'] === undefined
  )
}

function start(run: OpenRun, answer: ModelAnswer): Promise<DoorResults<ModelMessage>> {
  const { signal, kept, calls, ports, session } = run
  const wait = run.wait && ports.hasApprover(session)
  for (const { id, name, input } of readCalls(answer))
    run.tell({
      type: 'call',
      id: String(id),
      tool: calls.nameOf(name),
      input: typeof input === 'string' ? input : JSON.stringify(input),
    })
  if (kept.step !== null) return calls.resume(kept.step, { signal, wait })
  const once = run.isCutOff
  run.isCutOff = false
  return calls.results(answer, { signal, wait, once })
}

/** Tells those that are new. Returns whether one of them was aborted: who does that wants the run to end. */
function tellEnded({ tell }: OpenRun, { taken }: DoorStep, told: Set<string>): boolean {
  const ended = taken.results.filter(({ callId }) => !told.has(callId))
  for (const result of ended) {
    told.add(result.callId)
    tell({ type: 'call_ended', id: result.toolCallId, result })
  }
  return taken.endReason === 'aborted_tools' || ended.some(({ error }) => error?.reason === 'aborted_by_user')
}

function tellWaiting({ tell }: OpenRun, { waiting }: StepResult): void {
  for (const { call, approval } of waiting) tell({ type: 'approval_waiting', id: String(call.id), approval })
}

/** Resolves as soon as one of the questions is answered or over, or the run is aborted. */
function untilDecided({ ports, signal }: OpenRun, { waiting }: StepResult): Promise<void> {
  const asked = waiting.map(({ approval }) => approval.id)
  return new Promise((resolve) => {
    let end = (): void => undefined
    const done = (): void => {
      signal.removeEventListener('abort', done)
      end()
      resolve()
    }
    signal.addEventListener('abort', done)
    end = ports.approvals.watch((open) => {
      const ids = new Set(open.map(({ id }) => id))
      if (signal.aborted || !asked.every((id) => ids.has(id))) queueMicrotask(done)
    })
  })
}
