import type { Operation } from '../../contract/tool/plan.ts'
import type { Permission } from '../../contract/tool/tool.ts'
import { isInside } from '../../kit/match/is-inside.ts'

/** One thing that a call touches. */
interface Touch {
  readonly kind: 'file' | 'net' | 'other'
  readonly name: string
  readonly changes: boolean
}

/** Everything that a call touches; undefined if that is not known for sure. */
export type Reach = readonly Touch[] | undefined

/**
 * What these operations touch. A program may touch anything; so may a call that plans nothing, and one that may write and plans
 * only to read.
 */
export function toReach(operations: readonly Operation[], permission: Permission): Reach {
  const touches: Touch[] = []
  for (const operation of operations) {
    const touch = toTouch(operation, permission === 'write')
    if (touch === undefined) return undefined
    touches.push(touch)
  }
  const isKnown = touches.length > 0 && (permission === 'readonly' || touches.some(({ changes }) => changes))
  return isKnown ? touches : undefined
}

/** Whether one call might see or undo what the other one does. */
export function doMeet(one: Reach, other: Reach): boolean {
  if (one === undefined || other === undefined) return true
  return one.some((left) => other.some((right) => (left.changes || right.changes) && isShared(left, right)))
}

function toTouch(operation: Operation, mayWrite: boolean): Touch | undefined {
  switch (operation.kind) {
    case 'fs.read':
    case 'fs.write':
      return { kind: 'file', name: fold(operation.path), changes: operation.kind === 'fs.write' }
    case 'net':
      return { kind: 'net', name: operation.host, changes: mayWrite }
    case 'other':
      return operation.resource.includes('*')
        ? undefined
        : { kind: 'other', name: operation.resource, changes: mayWrite }
    case 'process':
      return undefined
  }
}

/** Two spellings of one path on a file system that does not tell letter case or Unicode forms apart. */
function fold(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

function isShared(left: Touch, right: Touch): boolean {
  if (left.kind !== right.kind) return false
  switch (left.kind) {
    case 'file':
      return isInside(left.name, right.name) || isInside(right.name, left.name)
    // Two names may lead to one and the same thing.
    case 'net':
      return true
    // How the parts of such a name are put together is the tool's own business, so one that begins like another may lie in it.
    case 'other':
      return left.name.startsWith(right.name) || right.name.startsWith(left.name)
  }
}
