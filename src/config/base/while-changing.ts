import { mkdirSync } from 'node:fs'
import { SetupError } from '../../contract/base/errors.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { whileAlone } from '../../kit/time/while-alone.ts'

/**
 * Reads what stands in a file of the operator and writes it changed, while no other process does: no change is written over. Makes the
 * home if there is none. Throws a SetupError if the turn cannot be had.
 */
export function whileChanging<Done>(home: string, change: () => Done): Done {
  let begun = false
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 })
    return whileAlone(home, () => {
      begun = true
      return change()
    })
  } catch (error) {
    if (begun) throw error
    throw new SetupError(
      'unwritable_file',
      `The home folder "${home}" cannot be changed now: ${messageOf(error)}. Nothing was changed.`,
    )
  }
}
