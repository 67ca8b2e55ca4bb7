import type { DatabaseSync } from 'node:sqlite'
import type { ReservedUnits } from '../../../contract/evidence.ts'
import type { Writers } from '../base/writers.ts'
import { recordText } from '../packs/record-sql.ts'

/**
 * How much of an account the calls have reserved that a process left open when it died, until a recovery has ended and settled them. What
 * they spent is not known, so no other call may have it.
 */
export type OpenReservations = (writer: string, account: string) => number

interface OpenCall {
  call: string
  reserved: readonly ReservedUnits[]
}

/** The open reservations in this file. */
export function createOpenReservations(db: DatabaseSync, writers: Writers): OpenReservations {
  const find = db.prepare(
    `SELECT call, json_extract(${recordText}, '$.reserved') AS reserved FROM records WHERE position >= ? AND kind = 'begin' ` +
      `AND json_extract(${recordText}, '$.writer') = ? AND json_extract(${recordText}, '$.reserved') IS NOT NULL`,
  )
  const findEnd = db.prepare("SELECT 1 FROM records WHERE call = ? AND kind = 'end'")
  /** Of processes that are gone: they leave no further call open. */
  const open = new Map<string, readonly OpenCall[]>()

  const look = (writer: string): readonly OpenCall[] => {
    const known = open.get(writer)
    if (known !== undefined) return known
    const firstOpen = writers.firstOpen(writer)
    const rows = firstOpen === undefined ? [] : find.all(firstOpen, writer)
    return rows.map(({ call, reserved }) => ({
      call: String(call),
      // A store has the text that was made from a begin.
      reserved: JSON.parse(String(reserved)) as ReservedUnits[],
    }))
  }
  return (writer, account) => {
    const left = look(writer).filter(({ call }) => findEnd.get(call) === undefined)
    if (left.length > 0) open.set(writer, left)
    else open.delete(writer)
    return left
      .flatMap(({ reserved }) => reserved)
      .reduce((sum, each) => (each.account === account ? sum + each.units : sum), 0)
  }
}
