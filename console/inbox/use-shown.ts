import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import type { PendingApproval } from '../api.ts'
import { isAlike } from './group-waiting.ts'

/** What the person looks at. */
export interface Shown {
  /** It may be over by now. */
  readonly current: PendingApproval | undefined
  /** Those that one answer is for, in the order in which they were selected; some may be over by now. */
  readonly selected: readonly PendingApproval[]
  readonly show: (approval: PendingApproval | undefined) => void
  /** Shows the next one, or one before. */
  readonly step: (by: number) => void
  /** Selects it, or not any more. Selected ones are alike: another one begins anew. */
  readonly toggle: (approval: PendingApproval) => void
  readonly select: (approvals: readonly PendingApproval[]) => void
}

/**
 * What is shown stays, whatever comes, goes or is answered elsewhere, until the person moves on: no key answers what they have not seen.
 */
export function useShown(list: readonly PendingApproval[]): Shown {
  const shown = useSignal<PendingApproval | undefined>(undefined)
  const chosen = useSignal<readonly PendingApproval[]>([])
  const asNow = (approval: PendingApproval): PendingApproval =>
    list.find(({ id }) => id === approval.id) ?? approval
  const isEmpty = list.length === 0
  const current = shown.value === undefined || isEmpty ? list[0] : asNow(shown.value)
  useLayoutEffect(() => {
    shown.value = current
    if (isEmpty) chosen.value = []
  }, [current?.id, isEmpty])
  return {
    current,
    selected: isEmpty ? [] : chosen.value.map(asNow),
    show: (approval) => {
      shown.value = approval
    },
    step(by) {
      const at = list.findIndex(({ id }) => id === current?.id)
      shown.value = list[Math.min(Math.max(at + by, 0), list.length - 1)]
    },
    toggle(approval) {
      const [first] = chosen.value
      const others = chosen.value.filter(({ id }) => id !== approval.id)
      const isSelected = others.length < chosen.value.length
      const stays = first !== undefined && isAlike(first, approval)
      chosen.value = isSelected ? others : [...(stays ? others : []), approval]
    },
    select: (approvals) => {
      chosen.value = approvals
    },
  }
}
