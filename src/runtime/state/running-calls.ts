import type { CallError } from '../../contract/base/errors.ts'
import type { Ancestor } from '../../contract/base/principal.ts'
import type { ApprovalBinding } from '../../contract/approval.ts'

/** Keyed calls of this process that are in the pipeline and not ended, so that duplicates wait for them. */
export interface RunningCalls {
  /** A call has one key at a time: with another one, those that wait for it go on. */
  start(key: string, call: string): void
  /** The call that is in the pipeline with this key. */
  find(key: string): RunningCall | undefined
  /** Says that a call has ended and is recorded, and what a person said no to, if one did. Of a call that is none of them, nothing. */
  end(call: string, refused: Refused | undefined): void
}

/** One of them. */
export interface RunningCall {
  readonly call: string
  /** When it has ended and is recorded, with the no of a person, if one said no. */
  readonly ended: Promise<Refused | undefined>
}

/** What a person said no to: a question, and whom they saw ask it. */
export interface Refused {
  readonly question: Question
  readonly error: CallError
}

/** What a person is asked. */
export interface Question {
  readonly binding: ApprovalBinding
  /** The earlier call whose result would be given. */
  readonly kept: string | undefined
  readonly ancestors: readonly Ancestor[] | undefined
}
