import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Issue } from '../contract/base/json.ts'
import { isPlainObject } from '../kit/json/is-plain-object.ts'
import { readJsonFile, type ReadJson } from './base/read-json-file.ts'

/** What a home says in a file of its own each, or together with everything else in `gateway.json`, in the order of the documents. */
export const parts = ['config', 'policy', 'mcpServers'] as const

export type Part = (typeof parts)[number]

const ownFiles: Readonly<Record<Part, string>> = {
  config: 'config.json',
  policy: 'policy.json',
  mcpServers: 'mcp.json',
}

/** A file, or one field of it. */
export interface PartPlace {
  readonly path: string
  /** Undefined: the whole file. */
  readonly field: Part | undefined
}

/** Where the gateway of a person or a team is configured. */
export function gatewayPath(home: string): string {
  return join(home, 'gateway.json')
}

/** The file of this part alone, whether or not it is there. */
export function ownPath(home: string, part: Part): string {
  return join(home, ownFiles[part])
}

/** Where a part stands: in `gateway.json` if that has it, or cannot be read, so that Handrail cannot know; else in its own file. */
export function findPart(home: string, part: Part): PartPlace {
  const path = gatewayPath(home)
  const read = readJsonFile(path)
  const isThere =
    read !== undefined && ('issues' in read || (isPlainObject(read.value) && Object.hasOwn(read.value, part)))
  return isThere ? { path, field: part } : { path: ownPath(home, part), field: undefined }
}

/** The value at a place, or why there is none, with a pointer into the value; undefined if the file does not exist. */
export function readPart({ path, field }: PartPlace): ReadJson | undefined {
  const read = readJsonFile(path)
  if (read === undefined || 'issues' in read || field === undefined) return read
  return isPlainObject(read.value) && Object.hasOwn(read.value, field)
    ? { ...read, value: read.value[field] }
    : undefined
}

/** How a place is named in issues: the file, and where in it. */
export function nameOfPlace({ path, field }: PartPlace, pointer = ''): string {
  return `${path}#${field === undefined ? '' : `/${field}`}${pointer}`
}

/** How a place is named as what was read: by its file alone, if it is all of it. */
export function nameOfFile(place: PartPlace): string {
  return place.field === undefined ? place.path : nameOfPlace(place)
}

/** A part that stands in two places: the operator could not tell which of them holds. */
export function findDoubles(home: string): Issue[] {
  const gateway = readJsonFile(gatewayPath(home))
  // What a file that cannot be read says is not known; that it cannot be read is told.
  if (gateway !== undefined && 'issues' in gateway) return []
  return parts.flatMap((part) => {
    const place = findPart(home, part)
    const own = ownPath(home, part)
    if (place.field === undefined || !existsSync(own)) return []
    const message = `There is "${own}" too. Keep one of them.`
    return [{ pointer: nameOfPlace(place), code: 'stands_twice', message }]
  })
}
