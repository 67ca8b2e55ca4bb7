import type { Obligation } from '../../contract/policy.ts'
import type { Hiding } from './hide.ts'

/** Finds where a pattern occurs, in bounded time: undefined if the budget ran out. */
export interface TextPattern {
  spans(
    text: string,
    budget: { steps: number },
  ): readonly (readonly [start: number, end: number])[] | undefined
}

/** An obligation to hide something. */
export interface HidingRule {
  readonly id: string
  readonly hiding: Hiding
  readonly pointers: readonly (readonly string[])[]
  readonly patterns: readonly TextPattern[]
  readonly labels: ReadonlySet<string>
  readonly onFailure: NonNullable<Obligation['onFailure']>
}

/** An obligation to add something. */
export interface WatermarkRule {
  readonly id: string
  readonly text: string
}
