import type { Front } from './front.ts'

/** One that may have to make room for another. */
export interface Spare {
  readonly front: Front | undefined
  readonly seenAt: number
}

/** Sorts: first those whose client has nothing to come back for, neither a call that did not end nor a task; of these the longest idle. */
export function byNeed(a: Spare, b: Spare): number {
  return Number(isAwaited(a)) - Number(isAwaited(b)) || a.seenAt - b.seenAt
}

function isAwaited({ front }: Spare): boolean {
  return front !== undefined && (front.client.running > 0 || (front.tasks?.size ?? 0) > 0)
}
