import type { Preview } from '../../contract/tool/plan.ts'
import type { Decision } from '../../contract/policy.ts'
import type { KeptQuestion } from '../state/approval-book.ts'
import type { Hooked } from '../state/call-state.ts'

/** What a person is asked about a call. */
export interface Asked {
  readonly hooked: Hooked
  /** Why. */
  readonly decision: Decision
  readonly preview: Preview
  /** Whether the call has run already, and what it did is held back. */
  readonly ran: boolean
  /** Names all that the answer is for. Keyed. */
  readonly digest: string
  /** The question as it is kept already. */
  readonly kept: KeptQuestion | undefined
}
