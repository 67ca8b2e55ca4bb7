import { SetupError, ToolFailure } from '../../contract/base/errors.ts'
import type { Principal } from '../../contract/base/principal.ts'
import type { ApprovalDecision, ApprovalQuery, PendingApproval } from '../../contract/pending-approval.ts'
import type { FactChange, Store } from '../../contract/store.ts'
import { isFactChanged } from '../../kit/result/is-fact-changed.ts'
import { tellWatcher } from '../../kit/time/tell-watcher.ts'
import type { ApprovalBook, KeptQuestion, QuestionSearch } from '../state/approval-book.ts'
import { createChangeWatch } from './change-watch.ts'
import { checkDecision } from './check-decision.ts'
import { decideQuestion, toNote, unknownApproval, type ApprovalSurroundings } from './decide.ts'
import { createQuestionIndex, type QuestionIndex } from './question-index.ts'
import { at, isOpen, mayReturnAs, takeBack, toQuestion, useAnswer } from './stored-question.ts'
import { createSweep } from './sweep-questions.ts'

/** The approvals in a store. What another process asks and answers there is seen within some milliseconds. */
export function createApprovalBook(around: ApprovalSurroundings): ApprovalBook {
  const { store, now } = around
  const stored = createQuestionIndex(store, (id) => changes.changed(id))
  const changes = createChangeWatch(() => void stored.now(), around.logError)
  const sweep = createSweep(around)
  const read = (id: string): KeptQuestion | undefined => {
    const question = stored.now().find(id)
    return question && at(question, now())
  }
  const decide = async (id: string, decision: ApprovalDecision, isOwn: boolean): Promise<PendingApproval> => {
    for (;;) {
      const question = read(id)
      if (question === undefined) throw unknownApproval(id)
      // Another answer may be faster: what it made of the question counts.
      if (!(await decideQuestion(question, decision, { around, isOwn }))) continue
      changes.look()
      return read(id)?.approval ?? question.approval
    }
  }
  return {
    async ask(question) {
      const time = now()
      if (question.returns !== 'held') refuseTooMany(stored.now(), question.request.principal, time)
      const { kept, put } = toQuestion(question, time, store)
      if (question.returns === 'held') await store.append([], { facts: [put] })
      else await tellOf(kept.approval, { facts: [put], time }, around)
      changes.look()
      const swept = sweep(stored.now().all())
      if (swept !== undefined) await swept
      return kept
    },
    asked: (search) => findAsked(stored.now(), search, around),
    read,
    async answer(id, decision) {
      try {
        return await decide(id, decision, true)
      } catch (error) {
        if (error instanceof SetupError && error.code === 'approval_over') return read(id)?.approval
        if (error instanceof SetupError && error.code === 'unknown_approval') return undefined
        throw error
      }
    },
    settled: (id, signal) =>
      changes.until(id, signal, () => {
        const approval = read(id)?.approval
        const isOpen = approval?.state === 'waiting' || approval?.state === 'expired'
        return isOpen ? undefined : { value: approval }
      }),
    use: useAnswer,
    async withdraw(id) {
      try {
        await takeAway(() => read(id), store)
      } catch (error) {
        around.logError(error)
      }
      changes.look()
    },
    list: (query) => list(stored.now(), query, now()),
    find: (id) => read(id)?.approval,
    decide: async (id, decision) => decide(id, checkDecision(decision), false),
    watch: (listener) => changes.watch(createTeller(listener, stored, around)),
    close: () => changes.close(),
  }
}

/** The oldest first. */
function list(
  stored: QuestionIndex,
  { tenant, session, state = 'waiting' }: ApprovalQuery = {},
  time: number,
): PendingApproval[] {
  const all = state === 'waiting' ? stored.unanswered() : stored.all()
  return [...(session === undefined ? all : stored.ofSession(session))]
    .map((question) => at(question, time).approval)
    .filter((each) => state === 'all' || each.state === state)
    .filter((each) => tenant === undefined || each.tenant === tenant)
    .sort((left, right) => left.askedAt - right.askedAt)
}

/** So much of one actor waits at a time, if no call stands and waits for it: every process on the store has it in memory. */
const mostWaiting = 5_000
const mostCharacters = 64 * 1024 * 1024

function refuseTooMany(stored: QuestionIndex, { tenant, actor }: Principal, time: number): void {
  const all = stored.waitingOf(tenant, actor)
  if (all.questions.size < mostWaiting && all.characters < mostCharacters) return
  const waiting = [...all.questions.values()].filter((each) => at(each, time).approval.state === 'waiting')
  const characters = waiting.reduce((sum, each) => sum + each.characters, 0)
  if (waiting.length < mostWaiting && characters < mostCharacters) return
  throw new ToolFailure({
    code: 'QUOTA.RATE_LIMITED',
    reason: 'approvals',
    message: `${waiting.length} calls of "${actor}" wait for a person already, so this one was not asked about and did nothing. Wait until they are answered.`,
  })
}

/** Also if it is answered meanwhile: no call is left that the answer could be for. */
async function takeAway(read: () => KeptQuestion | undefined, store: Store): Promise<void> {
  for (let question = read(); question !== undefined && question.approval.state !== 'used'; question = read())
    try {
      await store.append([], { facts: [takeBack(question)] })
    } catch (error) {
      if (!isFactChanged(error)) throw error
    }
}

/** The open question of this very call; else one of a call that may come back as it, an answered one first. */
function findAsked(
  stored: QuestionIndex,
  { tenant, subject, session, toolCallId }: QuestionSearch,
  { store, now }: ApprovalSurroundings,
): KeptQuestion | undefined {
  const time = now()
  const same = stored
    .ofSubject(tenant, subject)
    .map((question) => at(question, time))
    .filter(({ approval }) => isOpen(approval) && !approval.request.ran)
    .toSorted((left, right) => left.approval.askedAt - right.approval.askedAt)
  const isOwn = ({ approval: { request }, returns, writer }: KeptQuestion): boolean =>
    request.session === session &&
    request.toolCallId === toolCallId &&
    (returns !== 'held' || !store.lives(writer))
  const others = same.filter((each) => mayReturnAs(each, toolCallId, store))
  return same.find(isOwn) ?? others.find(({ approval: { state } }) => state !== 'waiting') ?? others[0]
}

/** Writes that a call waits which comes back for the answer. */
async function tellOf(
  approval: PendingApproval,
  { facts, time }: { facts: readonly FactChange[]; time: number },
  { evidence, announce }: ApprovalSurroundings,
): Promise<void> {
  const { id, request, digest, expiresAt } = approval
  const note = toNote('approval_requested', approval, {
    at: time,
    by: request.principal.actor,
    message: `${request.tool} waits for a person as ${id}: ${request.because.reason}`,
    data: { digest, expiresAt },
  })
  await evidence.tell(note, { facts })
  announce(note)
}

/** Tells a listener of what waits, whenever that is something else. */
function createTeller(
  listener: (waiting: readonly PendingApproval[]) => void,
  stored: { now(): QuestionIndex },
  { now, logError }: ApprovalSurroundings,
): () => void {
  let told: readonly PendingApproval[] | undefined
  return () => {
    try {
      const waiting = list(stored.now(), {}, now())
      // One that changed is another object.
      if (told?.length === waiting.length && told.every((each, index) => each === waiting[index])) return
      told = waiting
      tellWatcher(listener, waiting, logError)
    } catch (cause) {
      // It is told with the next change.
      logError(cause)
    }
  }
}
