import { randomBytes } from 'node:crypto'
import { openSync, rmSync, writeSync } from 'node:fs'
import { notePath } from './notes.ts'
import { readOwn } from './read-own.ts'

/** Each path has a place of its own in the list, so that noting one is a single write. */
const placeBytes = 4096

const free: number[] = []
let places = 0
let list: number | undefined

/** A name for what takes its real name only when it is finished. */
export function unfinishedName(): string {
  return `.handrail-${randomBytes(8).toString('hex')}.tmp`
}

const unfinished = /\/\.handrail-[\da-f]{16}\.tmp$/

/**
 * Notes a path with an unfinished name for as long as something may be there: what this process leaves because it is killed, the next one
 * removes. Call what this returns when nothing is there any more.
 */
export function noteUnfinished(path: string): () => void {
  const text = Buffer.from(`${path}\0`)
  const opened = text.length > placeBytes ? undefined : openList()
  if (opened === undefined) return () => {}
  const place = free.pop() ?? places++
  writeSync(opened, text, 0, text.length, place * placeBytes)
  return () => {
    writeSync(opened, '\0', place * placeBytes)
    free.push(place)
  }
}

/** If the folder takes no list, nothing is noted, and files are written all the same. */
function openList(): number | undefined {
  if (list !== undefined) return list
  const path = notePath('unfinished')
  try {
    list = openSync(path, 'wx', 0o600)
  } catch {
    return undefined
  }
  process.once('exit', () => rmSync(path, { force: true }))
  return list
}

/** The paths in a list that a process of this user left. */
export function readUnfinished(path: string): string[] {
  const text = readOwn(path) ?? Buffer.alloc(0)
  return Array.from({ length: Math.ceil(text.length / placeBytes) }, (_, place) =>
    text.toString('utf8', place * placeBytes, text.indexOf(0, place * placeBytes)),
  ).filter((each) => unfinished.test(each))
}
