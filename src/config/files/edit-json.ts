import {
  applyEdits,
  findNodeAtLocation,
  modify,
  parseTree,
  stripComments,
  type JSONPath,
  type Node,
} from 'jsonc-parser'
import type { Json } from '../../contract/base/json.ts'

/** Whether anything stands at this place. */
export function hasAt(text: string, path: JSONPath): boolean {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  return tree !== undefined && findNodeAtLocation(tree, [...path]) !== undefined
}

/** Takes out what stands at this place, and its comma. Comments before it stay. */
export function removeAt(text: string, path: JSONPath): string {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  const found = tree && findNodeAtLocation(tree, [...path])
  const node = found?.parent?.type === 'property' ? found.parent : found
  const siblings = node?.parent?.children ?? []
  if (node?.parent === undefined) return text
  const index = siblings.indexOf(node)
  const [previous, next] = [siblings[index - 1], siblings[index + 1]]
  const cut = (from: number, to: number): string => text.slice(0, from) + text.slice(to)
  if (previous !== undefined) {
    const between = text.slice(endOf(previous), node.offset)
    if (/^\s*,\s*$/.test(between)) return cut(endOf(previous), endOf(node))
    const comma = endOf(previous) + findComma(between)
    return text.slice(0, comma) + text.slice(comma + 1, node.offset).trimEnd() + text.slice(endOf(node))
  }
  if (next !== undefined) return cut(node.offset, next.offset)
  return cut(node.parent.offset + 1, endOf(node.parent) - 1)
}

function endOf({ offset, length }: Node): number {
  return offset + length
}

/** A comma that is not in a comment. */
function findComma(text: string): number {
  return stripComments(text, ' ').indexOf(',')
}

/** Puts a value at the end of a list or an object, on lines of its own. Nothing around it is put into another form. */
export function insertAt(text: string, path: JSONPath, value: Json): string {
  const isItem = typeof path.at(-1) === 'number'
  const [plain] = modify(text, path, value, { isArrayInsertion: isItem })
  if (plain === undefined) return text
  const { depth, isEmpty } = containerOf(text, path)
  const step = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const comma = plain.content.startsWith(',') ? ',' : ''
  const inside = plain.content.slice(comma.length)
  const whole: Json = JSON.parse(isItem ? `[${inside}]` : `{${inside}}`)
  const lines = JSON.stringify(whole, null, step).split('\n').slice(1, -1)
  const shown = lines.map((line) => `${eol}${step.repeat(depth)}${line}`).join('')
  const end = isEmpty ? `${eol}${step.repeat(depth)}` : ''
  return applyEdits(text, [{ ...plain, content: `${comma}${shown}${end}` }])
}

/** How deep the innermost list or object is that is there already on the way to a place, and whether there is nothing in it. */
function containerOf(text: string, path: JSONPath): { depth: number; isEmpty: boolean } {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const node = tree && findNodeAtLocation(tree, path.slice(0, depth))
    if (node !== undefined) return { depth, isEmpty: (node.children ?? []).length === 0 }
  }
  return { depth: 0, isEmpty: true }
}
