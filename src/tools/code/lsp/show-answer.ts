import { isAbsolute, join } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import { showControlsInLine } from '../../../kit/text/show-controls.ts'
import { showName } from '../../../kit/text/show-name.ts'
import { isExcluded } from '../base/exclusions.ts'
import { showPath } from '../base/show-path.ts'
import type { Look } from './documents.ts'
import type { Answer, CodeItem } from './question.ts'

/** An answer that may be shown: of places that the call may look at, with the lines they are in, and no more than asked for. */
export interface ShownAnswer extends Answer {
  /** Places outside of the roots, and sensitive ones. */
  readonly leftOut: number
}

const maxFiles = 50
const maxFileBytes = 1024 * 1024
const maxLineLetters = 200
const maxLetters = 200_000

/** Leaves out what the call may not look at, whether a server or a search found it. */
export async function toShown(answer: Answer, look: Look, limit: number): Promise<ShownAnswer> {
  const places = new Map<string, Promise<string | undefined>>()
  const lines = new Map<string, Promise<readonly string[]>>()
  const placeOf = (path: string): Promise<string | undefined> => {
    let place = places.get(path)
    if (place === undefined) places.set(path, (place = findPlace(path, look)))
    return place
  }
  const linesOf = (path: string): Promise<readonly string[]> => {
    let read = lines.get(path)
    if (read === undefined) {
      read = lines.size < maxFiles ? readLines(path, look) : Promise.resolve([])
      lines.set(path, read)
    }
    return read
  }
  const items: CodeItem[] = []
  let leftOut = 0
  let letters = 0
  let { truncated } = answer
  for (const item of answer.items) {
    const place = await placeOf(item.path)
    if (place === undefined) {
      leftOut++
      continue
    }
    const text = shorten((item.text ?? (await linesOf(place))[item.line - 1] ?? '').trim())
    letters += place.length + text.length + (item.name?.length ?? 0) + (item.container?.length ?? 0)
    if (items.length === limit || letters > maxLetters) {
      truncated = true
      break
    }
    items.push({ ...item, path: place, ...(text !== '' && { text }) })
  }
  return { ...answer, items, truncated, leftOut }
}

/** Undefined for a place that the call may not look at. */
async function findPlace(path: string, { files, project, exclude }: Look): Promise<string | undefined> {
  try {
    const absolute = isAbsolute(path) ? path : join(project, path)
    const place = await files.resolve(absolute, 'read')
    return [absolute, place].some((each) => isExcluded(each, exclude)) ? undefined : place
  } catch (error) {
    if (error instanceof ToolFailure) return undefined
    throw error
  }
}

/** Nothing of a file that is not there any more, or too large to be worth it. */
async function readLines(path: string, { files }: Look): Promise<readonly string[]> {
  try {
    const { bytes } = await files.read(path, { maxBytes: maxFileBytes })
    return Buffer.from(bytes).toString().split(/\r?\n/)
  } catch (error) {
    if (error instanceof ToolFailure) return []
    throw error
  }
}

function shorten(text: string): string {
  return text.length > maxLineLetters
    ? `${text.slice(0, maxLineLetters).toWellFormed()}…`
    : text.toWellFormed()
}

/** As lines to read: `path:line:column kind name in container: the line`. */
export function showItems(items: readonly CodeItem[], project: string): string[] {
  return items.map(({ path, line, character, name, kind, container, text, calls = [] }) => {
    const what = [
      kind,
      name,
      ...(container === undefined ? [] : ['in', container]),
      ...(calls.length === 0
        ? []
        : [`(called at ${calls.map((call) => `${call.line}:${call.character}`).join(', ')})`]),
    ].filter((part) => part !== undefined)
    const head = `${showName(showPath(project, path))}:${line}:${character}`
    return showControlsInLine([head, ...what].join(' ') + (text === undefined ? '' : `: ${text}`))
  })
}

/** For programs. */
export function toData(item: CodeItem, project: string): JsonObject {
  const { path, line, character, endLine, endCharacter, calls, name, kind, container, text } = item
  return {
    path: showPath(project, path),
    line,
    character,
    ...(endLine !== undefined &&
      endCharacter !== undefined && { end_line: endLine, end_character: endCharacter }),
    ...(name !== undefined && { name }),
    ...(kind !== undefined && { kind }),
    ...(container !== undefined && { container }),
    ...(text !== undefined && { text }),
    ...(calls !== undefined && { calls: calls.map((call) => ({ ...call })) }),
  }
}
