import type { PastCall } from '../../contract/services/history.ts'

/** The calls, the newest first, that no undo took back. An undo is none of them, and one that was taken back itself took nothing back. */
export function withoutUndone(newestFirst: readonly PastCall[]): PastCall[] {
  const undone = new Set<string>()
  return newestFirst.filter(({ call, undoes }) => {
    if (undone.has(call)) return false
    if (undoes?.done === true) for (const each of undoes.calls) undone.add(each)
    return undoes === undefined
  })
}
