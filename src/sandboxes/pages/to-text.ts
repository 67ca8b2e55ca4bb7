import type { PageNode } from './page.ts'

const elementNode = 1
const textNode = 3

const block =
  /^(address|article|aside|blockquote|body|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|pre|section|summary|table|tr|ul)$/i

/** The text of a node, a line for each block. */
export function toText(node: PageNode): string {
  const pieces: string[] = []
  write(node, pieces, false)
  return pieces
    .join('')
    .replaceAll(/[ \t]*\n[ \t]*/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

function write(node: PageNode, pieces: string[], asIs: boolean): void {
  for (const child of node.childNodes) {
    if (child.nodeType === textNode) {
      const text = child.textContent ?? ''
      pieces.push(asIs ? text : text.replaceAll(/\s+/g, ' '))
    } else if (child.nodeType === elementNode) writeElement(child, pieces, asIs)
  }
}

function writeElement(element: PageNode, pieces: string[], asIs: boolean): void {
  const name = element.nodeName
  if (/^br$/i.test(name)) return void pieces.push('\n')
  const isBlock = block.test(name)
  if (isBlock) pieces.push(/^(p|h[1-6]|ul|ol|table|pre)$/i.test(name) ? '\n\n' : '\n')
  if (/^li$/i.test(name)) pieces.push('- ')
  write(element, pieces, asIs || /^pre$/i.test(name))
  if (/^t[hd]$/i.test(name)) pieces.push('\t')
  if (isBlock) pieces.push('\n')
}
