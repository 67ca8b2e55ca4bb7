import { createHash } from 'node:crypto'
import { isId } from '../match/is-id.ts'

/**
 * The actor as whom a person makes calls who decides under this name. The name of a log-in is not one: it is written in the letters of one, and
 * told apart by its digest.
 */
export function toCallingActor(name: string): string {
  if (isId(name)) return name
  const letters = name.replaceAll(/^[^A-Za-z0-9_]+|[^A-Za-z0-9_.@-]+/g, '_').slice(0, 100)
  return `${letters}-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`
}
