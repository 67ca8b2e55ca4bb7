import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { messageOf } from '../../src/kit/text/message-of.ts'
import { ask, type PendingApproval } from '../api.ts'
import { onEnd, type ToldApproval } from '../events.ts'

export type Word = 'allow_once' | 'allow_for_session' | 'deny'

/** What became of one answer. */
export interface Outcome {
  readonly approval: PendingApproval
  /** Why it was not taken. */
  readonly fault?: string
}

/** What the person answered last. */
export interface Decided {
  readonly word: Word
  readonly outcomes: readonly Outcome[]
}

/** Answers questions, each by its own digest, and follows what others answer. */
export function useDecision() {
  const isBusy = useSignal(false)
  const decided = useSignal<Decided | undefined>(undefined)
  const elsewhere = useSignal<ReadonlyMap<string, ToldApproval>>(new Map())
  const said = useSignal('')
  const own = useRef(new Set<string>())
  useEffect(
    () =>
      onEnd((told) => {
        if (own.current.has(told.approval.id)) return
        elsewhere.value = new Map([...elsewhere.value, [told.approval.id, told]])
        said.value = `${told.approval.request.tool}: ${describeEnd(told)}`
      }),
    [],
  )
  return {
    isBusy: isBusy.value,
    decided: decided.value,
    said: said.value,
    /** How a question ended that this page did not answer. */
    endOf: (id: string) => elsewhere.value.get(id),
    /** Whether this page answers it, or did. */
    isOwn: (id: string) => own.current.has(id),
    /** Resolves when all answers are given, with whether all were taken. */
    async decide(approvals: readonly PendingApproval[], word: Word, reason: string): Promise<boolean> {
      isBusy.value = true
      const outcomes: Outcome[] = []
      for (const approval of approvals) {
        own.current.add(approval.id)
        const { fault, isOver } = await send(approval, word, reason)
        if (!isOver) own.current.delete(approval.id)
        outcomes.push({ approval, ...(fault !== undefined && { fault }) })
      }
      isBusy.value = false
      decided.value = { word, outcomes }
      said.value = describeOutcomes(word, outcomes)
      return outcomes.every(({ fault }) => fault === undefined)
    },
  }
}

/** What the API says to an answer: why it was not taken, or whether it ended the question, which may need more people. */
async function send(
  approval: PendingApproval,
  decision: Word,
  reason: string,
): Promise<{ readonly fault?: string; readonly isOver: boolean }> {
  const given = { decision, digest: approval.digest, ...(reason !== '' && { reason }) }
  const path = `/api/approvals/${encodeURIComponent(approval.id)}`
  try {
    const answer = await ask<{ readonly approval: PendingApproval }>(path, given)
    return { isOver: answer.approval.state !== 'waiting' }
  } catch (error) {
    return { fault: messageOf(error), isOver: false }
  }
}

function describeOutcomes(word: Word, outcomes: readonly Outcome[]): string {
  const did = word === 'deny' ? 'Denied' : 'Allowed'
  const [first] = outcomes
  const taken = outcomes.filter(({ fault }) => fault === undefined).length
  if (first === undefined) return ''
  if (outcomes.length > 1) return `${did}: ${taken} of ${outcomes.length}`
  return taken === 1 ? `${did}: ${first.approval.request.tool}` : ''
}

/** What became of a question elsewhere, in words. */
export function describeEnd({ event, approval }: ToldApproval): string {
  const last = approval.answers.at(-1)
  if (event === 'expired') return 'its time ran out'
  if (event === 'withdrawn' || last === undefined) return 'its call ended before an answer came'
  const reason = last.reason === undefined ? '' : `: ${last.reason}`
  return `${last.decision === 'deny' ? 'denied' : 'allowed'} by ${last.by}${reason}`
}
