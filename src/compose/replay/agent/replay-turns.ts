import { briefOf, type RunBrief } from '../../../agents/loop/brief.ts'
import { isFull } from '../../../agents/loop/compact.ts'
import { defaultTurns } from '../../../agents/loop/run-agent.ts'
import type { KeptRun } from '../../../agents/loop/run-book.ts'
import { digestOfNodes } from '../../../agents/loop/run-notes.ts'
import type { RunSettings } from '../../../agents/loop/run-settings.ts'
import { SetupError } from '../../../contract/base/errors.ts'
import type { AgentModel, TranscriptNode } from '../../../contract/agent-run.ts'
import type { Session } from '../../../contract/runtime.ts'
import { openModelCalls } from '../../../doors/language-model/open-model-calls.ts'
import { reserveModelUse } from '../../../runtime/limits/model-budgets.ts'
import type { Difference } from '../compare-calls.ts'
import { compareBriefs } from './compare-briefs.ts'
import { readLegs, type Leg } from './read-legs.ts'
import type { AgentDivergence, Place, Replaying, Walk } from './replaying.ts'
import { openSessionCalls } from './session-calls.ts'

/** Goes through a run from its first answer to its end. Returns the first divergence. */
export async function replayTurns(
  run: KeptRun,
  place: Place,
  replaying: Replaying,
): Promise<AgentDivergence | undefined> {
  const { book, store, found } = replaying
  const { id, tenant, session, prunedAt, copied = 0 } = run
  if (prunedAt !== undefined) {
    found.skipped.push({ run: id, reason: 'its conversation was pruned' })
    return undefined
  }
  const nodes = book.transcript(id, tenant)
  const legs = readLegs(run, store)
  const calls = openSessionCalls(run, place.session, replaying)
  const walk: Walk = { run, place, nodes, legs, replaying }
  const about = { run: id, session }
  const early = [...compareConversation(walk), ...compareModels(walk)]
  if (early.length > 0) return { ...about, differences: early }
  let turn = 0
  let lift = (): void => undefined
  for (const [index, node] of nodes.entries()) {
    if (index < copied) continue
    if (node.type === 'assistant') {
      turn++
      found.turns++
      const brief = briefAt(walk, index + 1)
      lift()
      lift = restrict(place.session, brief)
      const differences = await checkTurn(walk, { index, turn, brief, node })
      if (differences.length > 0) return { ...about, turn, differences }
      const divergence = await calls.playTurn(walk, { index, turn, node })
      if (divergence !== undefined) return divergence
    }
    if (
      node.type === 'summary' &&
      !isFull({ nodes: nodes.slice(0, index), kept: { settings: settingsAt(walk, index) } })
    )
      return {
        ...about,
        turn: turn + 1,
        differences: [
          { what: 'next', recorded: 'the conversation was summarised', now: 'the model would be asked' },
        ],
      }
  }
  const differences = checkEnd(walk, turn)
  return differences.length === 0 ? undefined : { ...about, turn: turn + 1, differences }
}

/** The evidence of the end of a run names its conversation. */
function compareConversation({ legs, nodes, replaying }: Walk): Difference[] {
  const end = legs.findLast((leg) => leg.end !== undefined)?.end
  if (end === undefined) return []
  const now = digestOfNodes(nodes.slice(0, end.node), replaying.store)
  if (now === end.transcript) return []
  return [
    { what: 'conversation', recorded: `the digest ${end.transcript}`, now: 'the store holds another one' },
  ]
}

function compareModels({ run, place }: Walk): Difference[] {
  const [recorded, now] = [run.model, place.model].map(({ provider, modelId }) => `${provider}/${modelId}`)
  return recorded === now ? [] : [{ what: 'model', recorded: recorded ?? '', now: now ?? '' }]
}

function briefAt({ run, replaying: { book } }: Walk, number: number): RunBrief | undefined {
  return book.briefs(run.tenant, run.id).findLast(({ from }) => from <= number)?.brief
}

/** Restrictions that stood then stand for the turn. Returns what lifts them. */
function restrict(session: Session, brief: RunBrief | undefined): () => void {
  const lifts = (brief?.session.restrictions ?? []).map((each) => session.restrict(each))
  return () => {
    for (const lift of lifts) lift()
  }
}

interface Turn {
  /** Of its answer, among the nodes. */
  readonly index: number
  readonly turn: number
  readonly brief: RunBrief | undefined
  readonly node: TranscriptNode & { type: 'assistant' }
}

/** What of a turn would be in another way before its answer came. */
async function checkTurn(walk: Walk, { index, turn, brief, node }: Turn): Promise<readonly Difference[]> {
  const { place, nodes, replaying } = walk
  const settings = settingsAt(walk, index)
  const recorded = 'the model was asked'
  if (turn - 1 - legAt(walk, index).countsFrom >= (settings.maxTurns ?? defaultTurns))
    return [{ what: 'next', recorded, now: 'max_turns' }]
  if (isFull({ nodes: nodes.slice(0, index), kept: { settings } }))
    return [{ what: 'next', recorded, now: 'the conversation would be summarised' }]
  const now = toldNow(place)
  if (now instanceof SetupError)
    return [{ what: 'tools', recorded: 'the provider took them', now: now.message }]
  const differences = brief === undefined ? [] : compareBriefs(brief, now, replaying.context.redactor)
  if (differences.length > 0) return differences
  const refusal = await spend(walk, { id: node.id, at: node.at, usage: node.usage })
  return refusal === undefined ? [] : [{ what: 'next', recorded, now: refusal }]
}

/** What the model would be told now; why that cannot be, if its provider does not take it. */
function toldNow({ session, settings, model: { provider, modelId } }: Place): RunBrief | SetupError {
  const { presentation } = settings
  const model: AgentModel = {
    specificationVersion: 'v4',
    provider,
    modelId,
    doStream: () => Promise.reject(new Error('A replay asks no model.')),
  }
  try {
    const calls = openModelCalls(session, { model, presentation })
    return briefOf({ settings, calls, session, narrowing: { restrictions: [] } })
  } catch (error) {
    if (error instanceof SetupError) return error
    throw error
  }
}

/** Takes what an answer took from the budgets of now. Returns why it would be refused. */
async function spend(
  { place: { session }, replaying: { context, stage } }: Walk,
  {
    id,
    at,
    usage,
  }: { id: string; at: number; usage: { inputTokens: number; outputTokens: number; cost?: number } },
): Promise<string | undefined> {
  const { principal } = session
  const use = { tokens: usage.inputTokens + usage.outputTokens, cost: usage.cost }
  const held = reserveModelUse(
    context.budgets?.modelBudgetsFor(principal) ?? [],
    { id, at, principal, estimate: () => use },
    stage.runtime.store,
  )
  if ('code' in held) return `budget_exceeded: ${held.message}`
  await held.settle(() => use)
  return undefined
}

/** A leg of before they were recorded counts from the start. */
function legAt({ legs }: Walk, index: number): Leg {
  const leg = legs.findLast(({ node }) => node <= index)
  return leg ?? { node: 0, countsFrom: 0, maxTurns: undefined, contextTokens: undefined }
}

/** What holds for the step that adds this node: what a process said that took the run over, unless it would be said in another way now. */
function settingsAt(walk: Walk, index: number): Pick<RunSettings, 'maxTurns' | 'contextTokens'> {
  const { run, place, replaying } = walk
  const leg = legAt(walk, index)
  const { maxTurns, contextTokens } = run.parent === undefined ? replaying.task : place.settings
  const most = maxTurns ?? (run.parent === undefined ? leg.maxTurns : undefined)
  const context = contextTokens ?? leg.contextTokens
  return {
    ...(most !== undefined && { maxTurns: most }),
    ...(context !== undefined && { contextTokens: context }),
  }
}

/** Whether the run would end now as it did. What the world decided, such as that the run was aborted, is as it was. */
function checkEnd(walk: Walk, turns: number): Difference[] {
  const { run, legs, nodes, replaying } = walk
  const end = legs.at(-1)?.end
  if (end?.reason === 'max_turns') {
    const { maxTurns = defaultTurns } = settingsAt(walk, nodes.length)
    const left = maxTurns - (turns - legAt(walk, nodes.length).countsFrom)
    return left > 0 ? [{ what: 'next', recorded: 'max_turns', now: 'the model would be asked' }] : []
  }
  if (end?.reason === 'budget_exceeded')
    replaying.found.skipped.push({
      run: run.id,
      reason: 'it ended for what was left of a budget, and other calls and runs spend that too',
    })
  return []
}
