import type { Store } from '../../contract/store.ts'
import { followFacts } from '../../kit/follow-facts.ts'
import type { KeptQuestion } from '../state/approval-book.ts'
import { isUnanswered, readQuestion } from './stored-question.ts'

/** The questions in a store, found without looking at the others. As they are stored: whether time has run out is not looked at. */
export interface QuestionIndex {
  find(id: string): KeptQuestion | undefined
  all(): Iterable<KeptQuestion>
  /** Of calls that are the same for the person who answers. */
  ofSubject(tenant: string, subject: string): readonly KeptQuestion[]
  ofSession(session: string): readonly KeptQuestion[]
  /** Those without an answer that is enough. */
  unanswered(): Iterable<KeptQuestion>
  /** Those of them for which no call stands and waits, by the actor who asks; and how many characters they have together. */
  waitingOf(tenant: string, actor: string): QuestionGroup
}

/** The questions of a store as they are now. `onChange` is told of each that changed, by its id; without one, that any may have. */
export function createQuestionIndex(
  store: Store,
  onChange: (id: string | undefined) => void,
): { now(): QuestionIndex } {
  const byId = new Map<string, KeptQuestion>()
  const open = new Map<string, KeptQuestion>()
  const bySubject = createGroups(({ approval, subject }) => nameOf(approval.tenant, subject))
  const bySession = createGroups(({ approval }) => approval.request.session)
  const byActor = createGroups(({ approval: { tenant, request }, returns }) =>
    returns === 'held' ? undefined : nameOf(tenant, request.principal.actor),
  )
  const remove = (id: string): void => {
    const question = byId.get(id)
    if (question === undefined) return
    byId.delete(id)
    open.delete(id)
    for (const groups of [bySubject, bySession, byActor]) groups.remove(question)
  }
  const put = (question: KeptQuestion): void => {
    const { id } = question.approval
    remove(id)
    byId.set(id, question)
    bySubject.add(question)
    bySession.add(question)
    if (!isUnanswered(question.approval)) return
    open.set(id, question)
    byActor.add(question)
  }
  const refresh = followFacts(store, 'approval', {
    clear() {
      byId.clear()
      open.clear()
      for (const groups of [bySubject, bySession, byActor]) groups.clear()
      onChange(undefined)
    },
    put(fact) {
      const question = readQuestion(fact)
      if (question === undefined) remove(fact.id)
      else put(question)
      onChange(fact.id)
    },
    remove({ id }) {
      remove(id)
      onChange(id)
    },
  })
  const index: QuestionIndex = {
    find: (id) => byId.get(id),
    all: () => byId.values(),
    ofSubject: (tenant, subject) => [...bySubject.of(nameOf(tenant, subject)).questions.values()],
    ofSession: (session) => [...bySession.of(session).questions.values()],
    unanswered: () => open.values(),
    waitingOf: (tenant, actor) => byActor.of(nameOf(tenant, actor)),
  }
  return {
    now() {
      refresh()
      return index
    },
  }
}

function nameOf(tenant: string, rest: string): string {
  return `${tenant} ${rest}`
}

interface QuestionGroup {
  readonly questions: ReadonlyMap<string, KeptQuestion>
  readonly characters: number
}

const none: QuestionGroup = { questions: new Map(), characters: 0 }

/** Questions by a name; one without a name is in no group. */
function createGroups(nameOf: (question: KeptQuestion) => string | undefined) {
  const groups = new Map<string, { questions: Map<string, KeptQuestion>; characters: number }>()
  return {
    of: (name: string): QuestionGroup => groups.get(name) ?? none,
    add(question: KeptQuestion): void {
      const name = nameOf(question)
      if (name === undefined) return
      let group = groups.get(name)
      if (group === undefined) groups.set(name, (group = { questions: new Map(), characters: 0 }))
      group.questions.set(question.approval.id, question)
      group.characters += question.characters
    },
    remove(question: KeptQuestion): void {
      const name = nameOf(question)
      const group = name === undefined ? undefined : groups.get(name)
      if (name === undefined || group?.questions.delete(question.approval.id) !== true) return
      group.characters -= question.characters
      if (group.questions.size === 0) groups.delete(name)
    },
    clear: () => groups.clear(),
  }
}
