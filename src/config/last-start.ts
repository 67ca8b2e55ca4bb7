import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Issue } from '../contract/base/json.ts'
import { isPlainObject } from '../kit/json/is-plain-object.ts'
import { findPart, gatewayPath, nameOfPlace, readPart, type PartPlace } from './gateway-parts.ts'
import { readJsonFile } from './base/read-json-file.ts'
import { writeJsonFile } from './base/write-json-file.ts'

/** Where each thing stood that would allow more if it were gone. */
type Said = { readonly [thing: string]: string }

/** What was said at the last start and stands nowhere any more: without it, more would be allowed than the operator asked for. */
export function findVanished(home: string): Issue[] {
  const path = lastStartPath(home)
  const read = readJsonFile(path) ?? { value: {} }
  if ('issues' in read) return read.issues.map((issue) => ({ ...issue, pointer: `${path}#${issue.pointer}` }))
  const said = findSaid(home)
  return Object.entries(toSaid(read.value))
    .filter(([thing]) => said[thing] === undefined)
    .map(([, place]) => ({
      pointer: join(home, place),
      code: 'missing',
      message: 'It is gone since the last start. Put it back; to say nothing, write {} there.',
    }))
}

/** Keeps in mind what the files of a home say now, for the next start. Throws a SetupError where that cannot be written. */
export function rememberStart(home: string): void {
  const said = findSaid(home)
  const read = readJsonFile(lastStartPath(home))
  const known = read !== undefined && 'value' in read ? toSaid(read.value) : {}
  if (JSON.stringify(known) !== JSON.stringify(said)) writeJsonFile(lastStartPath(home), { said })
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

function findSaid(home: string): Said {
  const nameOf = (place: PartPlace): string => relative(home, nameOfPlace(place))
  const gateway: PartPlace = { path: gatewayPath(home), field: undefined }
  const places = (['config', 'policy'] as const).map((part) => [part, findPart(home, part)] as const)
  const found = places.filter(([, place]) => readPart(place) !== undefined)
  return Object.fromEntries(
    [...found, ...(existsSync(gateway.path) ? [['gateway', gateway] as const] : [])].map(([thing, place]) => [
      thing,
      nameOf(place),
    ]),
  )
}
