import { childrenOf } from './children-of.ts'

/** Ids of all processes below a process: those that it started, and theirs. Each before those that it started. */
export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)])
}
