import { useSignal } from '@preact/signals'
import { messageOf } from '../../../src/kit/text/message-of.ts'
import { ApiError, ask, type PendingApproval } from '../../api.ts'

/** What a person may answer. */
export type Decision = 'allow_once' | 'allow_for_session' | 'deny'

/** What became of an answer. */
export interface Result {
  readonly question: PendingApproval
  readonly text: string
  readonly isDone: boolean
}

/** Answers questions, and knows what became of that. */
export interface Decisions {
  readonly isBusy: boolean
  /** Those that are being answered, or are over by the answer, by id. */
  readonly hidden: ReadonlySet<string>
  /** Answers each by itself, bound to the digest of what was seen. One that is refused stops no other. */
  readonly decide: (questions: readonly PendingApproval[], answer: Answer) => Promise<readonly Result[]>
  /** Takes questions that are over by another way out of sight. */
  readonly hide: (question: PendingApproval) => void
}

interface Answer {
  readonly decision: Decision
  /** Empty for none. */
  readonly reason: string
}

export function useDecisions(): Decisions {
  const hidden = useSignal<ReadonlySet<string>>(new Set())
  const isBusy = useSignal(false)
  return {
    isBusy: isBusy.value,
    hidden: hidden.value,
    hide: ({ id }) => void (hidden.value = new Set([...hidden.value, id])),
    async decide(questions, answer) {
      hidden.value = new Set([...hidden.value, ...questions.map(({ id }) => id)])
      isBusy.value = true
      const results: Result[] = []
      for (const question of questions) {
        const { waits, ...result } = await decideOne(question, answer)
        results.push(result)
        if (waits) hidden.value = new Set([...hidden.value].filter((id) => id !== question.id))
      }
      isBusy.value = false
      return results
    },
  }
}

async function decideOne(
  question: PendingApproval,
  { decision, reason }: Answer,
): Promise<Result & { readonly waits: boolean }> {
  const given = { decision, digest: question.digest, ...(reason !== '' && { reason }) }
  const path = `/api/approvals/${encodeURIComponent(question.id)}`
  try {
    const { approval } = await ask<{ readonly approval: PendingApproval }>(path, given)
    const waits = approval.state === 'waiting'
    const counted = `${approval.answers.length} of ${approval.needed} people said yes; it still waits`
    return {
      question,
      waits,
      isDone: true,
      text: waits ? counted : decision === 'deny' ? 'denied' : 'allowed',
    }
  } catch (error) {
    const isOver =
      error instanceof ApiError && (error.code === 'approval_over' || error.code === 'unknown_approval')
    return { question, waits: !isOver, isDone: false, text: messageOf(error) }
  }
}
