import { ToolFailure } from '../../../contract/base/errors.ts'
import { messageOf } from '../../../kit/text/message-of.ts'

/** What SQLite complains about. `other` is a fault of the statement or its values, not of the file. */
export type SqliteProblem =
  | 'permission'
  | 'busy'
  | 'io'
  | 'corrupt'
  | 'full'
  | 'cannot_open'
  | 'no_database'
  | 'other'

/** By SQLite's primary result code. */
const problems = new Map<number, SqliteProblem>([
  [3, 'permission'],
  [5, 'busy'],
  [6, 'busy'],
  [8, 'permission'],
  [10, 'io'],
  [11, 'corrupt'],
  [13, 'full'],
  [14, 'cannot_open'],
  [26, 'no_database'],
])

/** The kind of an error that `node:sqlite` throws; undefined for every other error. */
export function sqliteProblem(error: unknown): SqliteProblem | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined
  // The low byte is the primary code; the rest only refines it.
  return problems.get(error.errcode & 0xff) ?? 'other'
}

/** Whether an error would hit every write to the file alike, such as a full disk. */
export function hitsWholeFile(error: unknown): boolean {
  if (error instanceof NotTaken) return true
  const problem = sqliteProblem(error)
  return problem !== undefined && problem !== 'other'
}

/** The disk did not take what was written to the log of a store. */
export class NotTaken extends ToolFailure {}

const advice: { readonly [Problem in SqliteProblem]: string } = {
  permission: 'the file may not be read or written; check the permissions of it and of its directory',
  busy: 'another process holds it locked; wait, or end the process that holds it',
  io: 'the disk failed to read or write it; check the disk and its space',
  corrupt: 'the file is damaged; keep it, and restore it from a copy',
  full: 'the disk is full; free some space',
  cannot_open: 'it cannot be opened; check the path and the permissions of its directory',
  no_database: 'the file is not a SQLite database; choose another path, or move the file away',
  other: 'the statement was refused',
}

/** Why a store takes no records, in words for everybody. */
export function describeTrouble(error: unknown): string {
  return advice[sqliteProblem(error) ?? 'io']
}

/** A problem in words: what it is, and what to do now. */
export function describeProblem(error: unknown): string {
  const problem = sqliteProblem(error)
  const message = messageOf(error)
  if (isDenied(error)) return `${advice.permission} (${message})`
  return problem === undefined ? message : `${advice[problem]} (${message})`
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM')
}

/** The failure of a call whose evidence could not be written or read. */
export function storeFailure(description: string, error: unknown): ToolFailure {
  if (error instanceof ToolFailure) return error
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'store_failed',
    message: `The store (${description}) failed: ${describeProblem(error)}.`,
  })
}
