import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { may, type PendingApproval } from '../../api.ts'
import { ended, waiting } from '../../events.ts'

/** The questions of one session, the nearest deadline first. */
export interface Group {
  readonly session: string
  readonly tenant: string
  readonly questions: readonly PendingApproval[]
}

/** Which question is looked at, and which are decided together. */
export interface Choice {
  /** The group with the nearest deadline first. */
  readonly groups: readonly Group[]
  /** What is looked at. It stays until the person moves on, also if it waits no more. */
  readonly current: PendingApproval | undefined
  readonly isOver: boolean
  /** What is decided together, as it was when it was picked. */
  readonly picked: readonly PendingApproval[]
  /** Whether the person writes a reason: what is looked at stays, whatever becomes of it. */
  readonly isWriting: boolean
  readonly onWriting: (isNow: boolean) => void
  readonly choose: (id: string | undefined) => void
  readonly step: (by: number) => void
  /** Looks at the next one that is none of these. */
  readonly leave: (left: readonly PendingApproval[]) => void
  readonly mayPick: (question: PendingApproval) => boolean
  readonly pick: (question: PendingApproval) => void
  /** Picks every question like this one, if there are others. */
  readonly pickAlike: (question: PendingApproval) => boolean
  readonly drop: () => void
}

/** `hidden` are those that are being decided, by id. */
export function useChoice(hidden: ReadonlySet<string>): Choice {
  const chosen = useSignal<PendingApproval | undefined>(undefined)
  const picked = useSignal<readonly PendingApproval[]>([])
  const isWriting = useSignal(false)
  const groups = toGroups([...waiting.value.values()].filter(({ id }) => !hidden.has(id)))
  const list = groups.flatMap(({ questions }) => questions)
  const held = chosen.value
  const current = held === undefined ? list[0] : (list.find(({ id }) => id === held.id) ?? held)
  // A question that comes in later does not take the place of the one that is looked at, unless nothing waited before it came.
  useEffect(() => {
    if (chosen.value === undefined) chosen.value = current
    else if (list.length === 0 && ended.value.has(chosen.value.id) && !isWriting.value)
      chosen.value = undefined
  }, [current?.id, list.length, isWriting.value])
  const choose = (id: string | undefined): void => {
    chosen.value = list.find((each) => each.id === id)
  }
  const mayPick = (question: PendingApproval): boolean => {
    const [first = question] = picked.value
    return may('approver', question.tenant) && !question.request.dangerous && isAlike(first, question)
  }
  return {
    groups,
    current,
    isOver: current !== undefined && !list.some(({ id }) => id === current.id),
    picked: picked.value,
    isWriting: isWriting.value,
    onWriting: (isNow) => void (isWriting.value = isNow),
    choose,
    step(by) {
      const at = list.findIndex(({ id }) => id === current?.id)
      const next = at === -1 ? 0 : Math.min(Math.max(at + by, 0), list.length - 1)
      choose(list[next]?.id)
    },
    leave(left) {
      // The person moved on meanwhile.
      if (chosen.value !== undefined && chosen.value.id !== current?.id) return
      const isLeft = ({ id }: PendingApproval): boolean => left.some((each) => each.id === id)
      const after = list.slice(list.findIndex(({ id }) => id === current?.id) + 1)
      chosen.value = [...after, ...list].find((each) => !isLeft(each))
    },
    mayPick,
    pick(question) {
      if (!mayPick(question)) return
      const rest = picked.value.filter(({ id }) => id !== question.id)
      picked.value = rest.length === picked.value.length ? [...rest, question] : rest
    },
    pickAlike(question) {
      const alike = list.filter((each) => isAlike(each, question))
      const isPicked = may('approver', question.tenant) && alike.length > 1
      if (isPicked) picked.value = alike
      return isPicked
    },
    drop: () => void (picked.value = []),
  }
}

/**
 * Whether two questions may be decided together: calls of the same tool in the same session, which one rule asks about, and which show the same kind of
 * thing. A dangerous call is decided by itself.
 */
export function isAlike(one: PendingApproval, other: PendingApproval): boolean {
  return one.id === other.id || (!one.request.dangerous && kindOf(one) === kindOf(other))
}

function kindOf({ tenant, request }: PendingApproval): string {
  const { session, tool, because, dangerous, ran, preview } = request
  return JSON.stringify([tenant, session, tool, because.layer, because.rule, dangerous, ran, preview.kind])
}

function toGroups(questions: readonly PendingApproval[]): Group[] {
  const sorted = questions.toSorted((one, other) => one.expiresAt - other.expiresAt)
  const found = Map.groupBy(sorted, ({ tenant, request }) => JSON.stringify([tenant, request.session]))
  return [...found.values()].flatMap((each) => {
    const [first] = each
    return first === undefined
      ? []
      : [{ session: first.request.session, tenant: first.tenant, questions: each }]
  })
}
