import { findNodeAtLocation, parseTree, type Node } from 'jsonc-parser'
import { parsePointer } from './json-pointer.ts'

/** The line, from 1 on, of what a JSON pointer leads to in a text, or of the nearest thing around it. */
export function lineOfPointer(text: string, pointer: string): number {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  const names = parsePointer(pointer)
  for (let depth = names.length; depth >= 0; depth--) {
    const node = tree && findNode(tree, names.slice(0, depth))
    if (node !== undefined) return text.slice(0, node.offset).split('\n').length
  }
  return 1
}

function findNode(tree: Node, names: readonly string[]): Node | undefined {
  let node: Node | undefined = tree
  for (const name of names) {
    const step: string | number = node.type === 'array' ? Number(name) : name
    node = findNodeAtLocation(node, [step])
    if (node === undefined) return undefined
  }
  return node
}
