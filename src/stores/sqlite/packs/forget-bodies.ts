import type { DatabaseSync } from 'node:sqlite'
import { pack, packOf, placeInPack } from './pack.ts'
import { packsOf } from './packed.ts'

/** Takes the bodies of these records out of their packs, for those that are in one. Call it inside a transaction, in which their rows have lost them. */
export type ForgetBodies = (tenant: string, sequences: readonly number[]) => void

/** For the packs of this file. */
export function createForgetBodies(db: DatabaseSync): ForgetBodies {
  const packs = packsOf(db)
  const put = db.prepare('UPDATE packs SET value = ? WHERE tenant = ? AND number = ?')
  return (tenant, sequences) => {
    packs.look()
    for (const number of new Set(sequences.map(packOf))) {
      const content = packs.content(tenant, number)
      if (content === undefined) continue
      const bodies = [...content.bodies]
      for (const sequence of sequences) if (packOf(sequence) === number) bodies[placeInPack(sequence)] = null
      put.run(pack({ texts: content.texts, bodies }), tenant, number)
      packs.changed(tenant, number)
    }
  }
}
