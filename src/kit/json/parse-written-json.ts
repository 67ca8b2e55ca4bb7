import type { Issue } from '../../contract/base/json.ts'
import { describeJsonIssue } from './describe-json-issue.ts'
import { pointerTo } from './json-pointer.ts'

/** What a text says, and whether it has what JSON itself does not: that is lost where the value is written again. */
interface Written {
  readonly value: unknown
  readonly hasComments: boolean
}

/**
 * Strings, comments and signs; whatever else stands between them, such as numbers, is one token up to the next of these. What is not closed goes on
 * to the end, so that no text is looked at twice.
 */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|\/\/[^\n]*|\/\*.*?(?:\*\/|$)|[{}[\],:]|[^\s"{}[\],:/]+|\//gs

/**
 * The value of JSON that a person wrote. Comments, and a comma after the last item, are passed over. A name that stands twice in one object is a
 * issue: programs that read JSON take either of the two, so a reader could not know which one holds. `describe` says where it stops being JSON.
 */
export function parseWrittenJson(
  text: string,
  describe = (fault: string) => `The file is not valid JSON at ${fault}. Mend it or remove it.`,
): Written | { readonly issues: readonly Issue[] } {
  if (text.trim() === '') return { issues: [invalid('The file is empty. Write {} there, or remove it.')] }
  const { idle, issues } = scan(text)
  const plain = idle.length === 0 ? text : blank(text, idle)
  try {
    const value: unknown = JSON.parse(plain)
    return issues.length > 0 ? { issues } : { value, hasComments: idle.some(({ isComment }) => isComment) }
  } catch {
    return { issues: [invalid(describe(describeJsonIssue(plain)))] }
  }
}

function invalid(message: string): Issue {
  return { pointer: '', code: 'invalid_json', message }
}

/** A part of a text that says nothing. */
interface Idle {
  readonly at: number
  readonly length: number
  readonly isComment: boolean
}

/** An object or list that is not closed yet. */
interface Open {
  readonly pointer: string
  /** Of an object. */
  readonly names: Set<string> | undefined
  /** Where in it we are: the name or place of the item. */
  item: string | number
}

/** Trusts the text to be JSON: the parser of the rest finds what is not. */
function scan(text: string): { idle: readonly Idle[]; issues: readonly Issue[] } {
  const idle: Idle[] = []
  const issues: Issue[] = []
  const open: Open[] = []
  let [before, last] = ['', '']
  let lastAt = 0
  for (const { 0: token, index: at } of text.matchAll(tokens)) {
    if (/^\/[/*]/.test(token)) {
      if (isClosed(token)) idle.push({ at, length: token.length, isComment: true })
      continue
    }
    const top = open.at(-1)
    if (token === '{' || token === '[') open.push(toOpen(token, top))
    else if (token === '}' || token === ']') {
      if (last === ',' && !/^[{[,]?$/.test(before)) idle.push({ at: lastAt, length: 1, isComment: false })
      open.pop()
    } else if (token === ',' && typeof top?.item === 'number') top.item += 1
    else if (token === ':' && top !== undefined) issues.push(...enter(top, last))
    ;[before, last, lastAt] = [last, token, at]
  }
  return { idle, issues }
}

function isClosed(comment: string): boolean {
  return comment.startsWith('//') || (comment.length > 3 && comment.endsWith('*/'))
}

function toOpen(token: '{' | '[', around: Open | undefined): Open {
  const pointer = around === undefined ? '' : pointerTo(around.pointer, around.item)
  return token === '{' ? { pointer, names: new Set(), item: '' } : { pointer, names: undefined, item: 0 }
}

function enter(top: Open, token: string): Issue[] {
  const { names, pointer } = top
  const name = readName(token)
  if (names === undefined || name === undefined) return []
  top.item = name
  if (!names.has(name)) {
    names.add(name)
    return []
  }
  const message = `"${name}" stands twice in this object. Keep one of them.`
  return [{ pointer: pointerTo(pointer, name), code: 'stands_twice', message }]
}

function readName(token: string): string | undefined {
  try {
    return String(JSON.parse(token))
  } catch {
    return undefined
  }
}

/** The text with spaces for what says nothing, so that places in it stay as they are. */
function blank(text: string, idle: readonly Idle[]): string {
  let result = ''
  let from = 0
  for (const { at, length } of [...idle].sort((left, right) => left.at - right.at)) {
    result += text.slice(from, at) + text.slice(at, at + length).replace(/[^\n]/g, ' ')
    from = at + length
  }
  return result + text.slice(from)
}
