import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Issue } from '../contract/base/json.ts'
import { isPlainObject } from '../kit/json/is-plain-object.ts'
import { gatewayPath, nameOfFile, nameOfPlace, ownPath, type PartPlace } from './gateway-parts.ts'
import { readJsonFile } from './base/read-json-file.ts'
import { whileChanging } from './base/while-changing.ts'
import { writeJsonFile } from './base/write-json-file.ts'

/** Where in a home each thing stands that would allow more if it were gone. */
export type Said = { readonly [thing: string]: string }

/** What of a home was read, by the names of the files, or of their parts, that were there. */
export function findSaid(home: string, files: readonly string[]): Said {
  const path = gatewayPath(home)
  const places = (['config', 'policy'] as const).flatMap((part): [string, PartPlace][] => [
    [part, { path: ownPath(home, part), field: undefined }],
    [part, { path, field: part }],
  ])
  const read = places.filter(([, place]) => files.includes(nameOfFile(place)))
  const gateway: [string, PartPlace][] = existsSync(path) ? [['gateway', { path, field: undefined }]] : []
  return Object.fromEntries(
    [...read, ...gateway].map(([thing, place]) => [thing, relative(home, nameOfPlace(place))]),
  )
}

/** What was said at the last start and is not now: without it, more would be allowed than the operator asked for. */
export function findVanished(home: string, said: Said): Issue[] {
  const path = lastStartPath(home)
  const read = readJsonFile(path) ?? { value: {} }
  if ('issues' in read) return read.issues.map((issue) => ({ ...issue, pointer: `${path}#${issue.pointer}` }))
  return Object.entries(toSaid(read.value))
    .filter(([thing]) => said[thing] === undefined)
    .map(([, place]) => ({
      pointer: join(home, place),
      code: 'missing',
      message: 'It is gone since the last start. Put it back; to say nothing, write {} there.',
    }))
}

/**
 * Keeps in mind for the next start what this one read, whatever the files say by now, beside what others read. Throws a SetupError
 * if it cannot be written.
 */
export function rememberStart(home: string, said: Said): void {
  const path = lastStartPath(home)
  const isKnown = (known: Said): boolean => JSON.stringify(known) === JSON.stringify({ ...known, ...said })
  if (isKnown(readSaid(path))) return
  whileChanging(home, () => {
    const known = readSaid(path)
    if (!isKnown(known)) writeJsonFile(path, { said: { ...known, ...said } })
  })
}

/** Nothing if it cannot be read. */
function readSaid(path: string): Said {
  const read = readJsonFile(path)
  return read !== undefined && 'value' in read ? toSaid(read.value) : {}
}

/** Where it is kept what the files of a home said at the last start. */
export function lastStartPath(home: string): string {
  return join(home, 'last-start.json')
}

function toSaid(value: unknown): Said {
  const said = isPlainObject(value) ? value['said'] : undefined
  const entries = isPlainObject(said) ? Object.entries(said) : []
  return Object.fromEntries(entries.map(([thing, place]) => [thing, String(place)]))
}
