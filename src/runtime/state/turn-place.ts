import type { Operation } from '../../contract/tool/plan.ts'

/** How a call of a turn that overlaps keeps its place among the others. */
export interface TurnPlace {
  /** Resolves when nothing runs any more that was before it and touches what these operations touch; undefined if nothing does. */
  untilFree(operations: readonly Operation[]): Promise<unknown> | undefined
  /** The tool is about to start, with these operations. */
  starts(operations: readonly Operation[]): void
}
