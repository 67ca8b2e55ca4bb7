import { SetupError, ToolFailure } from '../../contract/base/errors.ts'
import type { Principal } from '../../contract/base/principal.ts'
import type { ApprovalDecision, PendingApproval } from '../../contract/pending-approval.ts'
import type { FactChange, Store } from '../../contract/store.ts'
import { isFactChanged } from '../../kit/result/is-fact-changed.ts'
import { tellWatcher } from '../../kit/time/tell-watcher.ts'
import type { ApprovalBook, KeptQuestion, QuestionSearch } from '../state/approval-book.ts'
import { createChangeWatch } from './change-watch.ts'
import { checkDecision } from './check-decision.ts'
import { decideQuestion, toNote, unknownApproval, type ApprovalSurroundings } from './decide.ts'
import {
  at,
  forgetOld,
  isOpen,
  mayReturnAs,
  readQuestion,
  takeBack,
  toQuestion,
  useAnswer,
} from './stored-question.ts'

/** The approvals in a store. What another process asks and answers there is seen within some milliseconds. */
export function createApprovalBook(around: ApprovalSurroundings): ApprovalBook {
  const { store, now } = around
  const stored = createReader(around)
  const changes = createChangeWatch(() => store.factsVersion(), around.logError)
  const read = (id: string): KeptQuestion | undefined => stored().find(({ approval }) => approval.id === id)
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
      if (question.returns !== 'held') refuseTooMany(stored(), question.request.principal)
      const { kept, put } = toQuestion(question, time, store)
      const facts = [put, ...forgetOld(stored(), time)]
      if (question.returns === 'held') await store.append([], { facts })
      else await tellOf(kept.approval, { facts, time }, around)
      changes.look()
      return kept
    },
    asked: (search) => findAsked(stored(), search, around),
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
      changes.until(signal, () => {
        const approval = read(id)?.approval
        const isUnanswered = approval?.state === 'waiting' || approval?.state === 'expired'
        return isUnanswered ? undefined : { value: approval }
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
    list: ({ tenant, session, state = 'waiting' } = {}) =>
      stored()
        .map(({ approval }) => approval)
        .filter((each) => state === 'all' || each.state === state)
        .filter((each) => tenant === undefined || each.tenant === tenant)
        .filter((each) => session === undefined || each.request.session === session)
        .sort((left, right) => left.askedAt - right.askedAt),
    find: (id) => read(id)?.approval,
    decide: async (id, decision) => decide(id, checkDecision(decision), false),
    watch(listener) {
      const tell = createTeller(listener, around)
      const ended = new AbortController()
      void changes.until(ended.signal, () => {
        tell(stored)
        return undefined
      })
      return () => ended.abort()
    },
    close: () => changes.close(),
  }
}

/** So many questions of one actor wait at a time, if no call stands and waits for them. */
const mostWaiting = 500

function refuseTooMany(questions: readonly KeptQuestion[], { tenant, actor }: Principal): void {
  const waiting = questions.filter(
    ({ approval: { state, request }, returns }) =>
      returns !== 'held' &&
      state === 'waiting' &&
      request.principal.tenant === tenant &&
      request.principal.actor === actor,
  )
  if (waiting.length < mostWaiting) return
  throw new ToolFailure({
    code: 'QUOTA.RATE_LIMITED',
    reason: 'approvals',
    message: `${mostWaiting} calls of "${actor}" wait for a person already, so this one was not asked about and did nothing. Wait until they are answered.`,
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
  questions: readonly KeptQuestion[],
  { tenant, subject, session, toolCallId }: QuestionSearch,
  { store }: ApprovalSurroundings,
): KeptQuestion | undefined {
  const same = questions.filter(
    (each) =>
      each.subject === subject &&
      each.approval.tenant === tenant &&
      isOpen(each.approval) &&
      !each.approval.request.ran,
  )
  const isOwn = ({ approval: { request }, returns, writer }: KeptQuestion): boolean =>
    request.session === session &&
    request.toolCallId === toolCallId &&
    (returns !== 'held' || !store.lives(writer))
  const others = same.filter((each) => mayReturnAs(each, toolCallId, store))
  return same.find(isOwn) ?? others.find(({ approval: { state } }) => state !== 'waiting') ?? others[0]
}

/** Reads the questions of a store as they are now. */
function createReader({ store, now }: ApprovalSurroundings): () => readonly KeptQuestion[] {
  let version = -1
  let known: readonly KeptQuestion[] = []
  return () => {
    const latest = store.factsVersion()
    if (latest !== version) {
      known = store.facts('approval').flatMap((fact) => readQuestion(fact) ?? [])
      version = latest
    }
    const time = now()
    return known.map((question) => at(question, time))
  }
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
  { logError }: ApprovalSurroundings,
): (stored: () => readonly KeptQuestion[]) => void {
  let told: string | undefined
  const tell = (stored: () => readonly KeptQuestion[]): void => {
    const waiting = stored().flatMap(({ approval }) => (approval.state === 'waiting' ? [approval] : []))
    const names = waiting.map(({ id, answers }) => `${id} ${answers.length}`).join()
    if (names === told) return
    told = names
    tellWatcher(listener, waiting, logError)
  }
  return (stored) => {
    try {
      tell(stored)
    } catch (cause) {
      // It is told with the next change.
      logError(cause)
    }
  }
}
