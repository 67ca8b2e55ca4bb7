import type { KeptRun } from '../../../agents/loop/run-book.ts'
import type { TranscriptNode } from '../../../contract/agent-run.ts'
import type { Session } from '../../../contract/runtime.ts'
import { readCalls as readAnswer } from '../../../doors/language-model/open-model-calls.ts'
import type { ModelPart } from '../../../doors/language-model/messages.ts'
import { SetupError } from '../../../contract/base/errors.ts'
import { readCalls, type RecordedCall } from '../../../evidence/read-calls.ts'
import { toReplayer } from '../open-replayer.ts'
import { playCall } from '../play-call.ts'
import { openChild } from './open-place.ts'
import type { AgentDivergence, Replaying, Walk } from './replaying.ts'

/** The recorded calls of the session of a run. */
export interface SessionCalls {
  /** Plays the calls of an answer, and the runs that they started. Returns the first divergence. */
  playTurn(walk: Walk, turn: PlayedTurn): Promise<AgentDivergence | undefined>
}

interface PlayedTurn {
  /** Of its answer, among the nodes. */
  readonly index: number
  readonly turn: number
  readonly node: TranscriptNode & { type: 'assistant' }
}

/** The calls of the session of this run, to be played in that one. */
export function openSessionCalls(run: KeptRun, session: Session, replaying: Replaying): SessionCalls {
  const { stage, store, found } = replaying
  const replayer = toReplayer(stage, session)
  const all = readCalls(store.records({ tenant: run.tenant, session: run.session }))
  const order = new Map(all.map((call, place) => [call, place]))
  const met = new Set<RecordedCall>()
  let complete = true

  const play = (call: RecordedCall) => {
    met.add(call)
    return playCall(call, replayer, { done: found.done, complete, knowsSet: true })
  }
  /** What else was called in the session stands before what comes: later calls may lean on it. */
  const playOthersBefore = async (call: RecordedCall, own: ReadonlySet<string>): Promise<void> => {
    for (const other of all.slice(0, order.get(call)))
      if (!met.has(other) && !own.has(other.begin.toolCallId ?? '')) await play(other)
  }
  return {
    async playTurn(walk, { index, turn, node }) {
      const about = { run: run.id, session: run.session, turn }
      const content = node.content as unknown as ModelPart[]
      const asked = readAnswer({ ...node, content })
      const ids = new Set(asked.map(({ id }) => String(id)))
      const calls = all.filter(({ begin }) => ids.has(begin.toolCallId ?? ''))
      for (const call of calls) {
        await playOthersBefore(call, ids)
        const { call: id, tool, policy, toolCallId = '' } = call.begin
        found.calls++
        found.policies.add(policy)
        const outcome = await play(call)
        if (outcome.kind === 'other') return { ...about, call: id, tool, differences: outcome.differences }
        if (outcome.kind === 'same') found.done.add(id)
        else {
          complete = false
          found.skipped.push({ run: run.id, turn, call: id, tool, reason: outcome.reason })
        }
        const divergence = await replayStarted(walk, toolCallId)
        if (divergence !== undefined) return divergence
      }
      const begun = new Set(calls.map(({ begin }) => begin.toolCallId))
      for (const call of asked)
        if (!begun.has(String(call.id)))
          found.skipped.push({ run: run.id, turn, tool: call.name, reason: notBegun })
      return findLost(walk, { index, calls, about })
    },
  }
}

const notBegun = 'it did not begin: it waits for a person, or its process was ended before'

/** The runs that a call started. */
async function replayStarted(
  { run, place, replaying }: Walk,
  toolCallId: string,
): Promise<AgentDivergence | undefined> {
  const { book, found } = replaying
  const { tenant, session } = run
  for (const id of book.children(tenant, session)) {
    const child = book.load(tenant, id)
    if (child?.parent?.toolCallId !== toolCallId || found.children.includes(id)) continue
    found.children.push(id)
    const divergence = await replayChild(child, { place, replaying })
    if (divergence !== undefined) return divergence
  }
  return undefined
}

async function replayChild(
  child: KeptRun,
  { place, replaying }: Pick<Walk, 'place' | 'replaying'>,
): Promise<AgentDivergence | undefined> {
  const about = { run: child.id, session: child.session }
  try {
    const opened = await openChild(child, place, replaying)
    return 'differences' in opened ? { ...about, ...opened } : await replaying.replay(child, opened)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    const recorded = `a session below ${child.parent?.session ?? ''}`
    return { ...about, differences: [{ what: 'session', recorded, now: error.message }] }
  }
}

/** A result that the model was told, and that no call in the evidence has. */
function findLost(
  { nodes }: Walk,
  about: {
    index: number
    calls: readonly RecordedCall[]
    about: Pick<AgentDivergence, 'run' | 'session' | 'turn'>
  },
): AgentDivergence | undefined {
  const told = nodes.slice(about.index + 1).find(({ type }) => type !== 'instructions')
  if (told?.type !== 'tool') return undefined
  const known = new Set(about.calls.map(({ begin }) => begin.call))
  const lost = told.calls.find((id) => !known.has(id))
  if (lost === undefined) return undefined
  const differences = [
    {
      what: 'result' as const,
      recorded: `the model was told what ${lost} returned`,
      now: 'the evidence has no such call',
    },
  ]
  return { ...about.about, call: lost, differences }
}
