import { isObject } from '../../kit/json/is-object.ts'
import { isKeywords } from './is-keywords.ts'
import { childrenOf } from './keyword-children.ts'

/** Finds the part of a document that a local reference names; undefined if there is none. */
export type Resolve = (reference: string) => unknown

/** Whether a reference stays inside its document. */
export function isLocal(reference: string): boolean {
  return reference.startsWith('#')
}

/** Resolves local references (`#`, `#/a/b`, `#anchor`) in a document. Looks for anchors on first need. */
export function createResolver(root: unknown): Resolve {
  let anchors: ReadonlyMap<string, unknown> | undefined
  return (reference) => {
    if (reference === '#') return root
    if (reference.startsWith('#/')) return follow(root, tokensOf(reference))
    anchors ??= findAnchors(root)
    return anchors.get(decode(reference.slice(1)))
  }
}

/** The pointer tokens of a reference; none for an anchor. */
export function tokensOf(reference: string): string[] {
  if (!reference.startsWith('#/')) return []
  const tokens = reference.slice(2).split('/')
  return tokens.map((token) => decode(token).replaceAll('~1', '/').replaceAll('~0', '~'))
}

function follow(root: unknown, tokens: readonly string[]): unknown {
  let target = root
  for (const token of tokens) {
    if (!isObject(target) || !Object.hasOwn(target, token)) return undefined
    target = target[token]
  }
  return target
}

function decode(token: string): string {
  try {
    return decodeURIComponent(token)
  } catch {
    // A bare percent sign is not an escape; it stands for itself.
    return token
  }
}

/** Looks through all schemas of the document, each once; what stands in an enum is a value, whatever it looks like. */
function findAnchors(root: unknown): Map<string, unknown> {
  const anchors = new Map<string, unknown>()
  const seen = new Set<unknown>()
  const open = [root]
  while (open.length > 0) {
    const part = open.pop()
    if (!isKeywords(part) || seen.has(part)) continue
    seen.add(part)
    const { $anchor, $dynamicAnchor, $id } = part
    // Drafts 6 and 7 say by "$id" what later ones say by "$anchor".
    const older = typeof $id === 'string' && isLocal($id) ? $id.slice(1) : undefined
    for (const name of [$anchor, $dynamicAnchor, older]) if (typeof name === 'string') anchors.set(name, part)
    open.push(...childrenOf(part))
  }
  return anchors
}
