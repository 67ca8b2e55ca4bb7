/** Who has to act on an error. */
export type Actor = 'model' | 'operator' | 'person' | 'developer'

/** What that actor should do next. */
export type NextStep =
  | 'fix_input'
  | 'try_another'
  | 'stop_or_ask'
  | 'stop'
  | 'wait'
  | 'retry_smaller'
  | 'check_then_resolve'
  | 'report'

/** What is said of an error code. */
export interface ErrorRow {
  actor: Actor
  next: NextStep
  meaning: string
  reasons: { readonly [reason: string]: string }
  /** Reasons on which another one acts, or in another way. */
  except?: { readonly [reason: string]: { actor: Actor; next: NextStep } }
}
