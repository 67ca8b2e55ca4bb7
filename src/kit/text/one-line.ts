import { dropInvisible } from './drop-invisible.ts'

/** A longer name is cut where people read it. */
const maxNameLength = 120

/** The name of a server's tool as people read it. */
export function nameLine(name: string): string {
  return oneLine(name, maxNameLength)
}

/** Words of a server that get one line only: at most so many characters, and no invisible ones. */
export function oneLine(text: string, most: number): string {
  const line = dropInvisible(text).replaceAll(/\s+/g, ' ').trim()
  return line.length > most ? `${line.slice(0, most).toWellFormed()}…` : line
}
