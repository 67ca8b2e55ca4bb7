import { isMap, isNode, isScalar, LineCounter, parseDocument, type Node } from 'yaml'

/** A field of a front matter: its value, and its line in the file. */
export interface FrontMatterField {
  readonly value: unknown
  /** From 1 on. */
  readonly line: number
}

/** What a file says before and below its second `---`. */
export interface FrontMatter {
  readonly fields: ReadonlyMap<string, FrontMatterField>
  readonly body: string
}

/** Why a file has no front matter that can be read. */
export interface FrontMatterIssue {
  readonly line: number
  readonly message: string
}

/**
 * Reads a text with a YAML front matter. Other agents take `key: value` lines as they are, also if the value has a colon that YAML does not take: so
 * does this, if all lines are such lines.
 */
export function parseFrontMatter(text: string): FrontMatter | { issue: FrontMatterIssue } {
  const match = /^---[ \t]*\r?\n([^]*?)^---[ \t]*(?:\r?\n|$)/m.exec(text)
  if (match === null || match.index !== 0) {
    const message =
      'The file has no front matter. Begin it with a line "---", then name: and description:, then "---".'
    return { issue: { line: 1, message } }
  }
  const [whole, yaml = ''] = match
  const fields = readYaml(yaml)
  if (fields instanceof Map) return { fields, body: text.slice(whole.length) }
  const plain = readPlainLines(yaml)
  return plain === undefined ? { issue: fields } : { fields: plain, body: text.slice(whole.length) }
}

type Fields = Map<string, FrontMatterField>

/** The lines of the file begin with `---`. */
const firstLine = 2

function readYaml(yaml: string): Fields | FrontMatterIssue {
  const lineCounter = new LineCounter()
  const document = parseDocument(yaml, { lineCounter, schema: 'core', prettyErrors: false })
  const lineOf = (offset: number): number => lineCounter.linePos(offset).line + firstLine - 1
  const [error] = document.errors
  if (error !== undefined)
    return { line: lineOf(error.pos[0]), message: `The front matter is not YAML: ${error.message}.` }
  const { contents } = document
  const fields: Fields = new Map()
  if (contents === null) return fields
  if (!isMap(contents))
    return { line: firstLine, message: 'The front matter has no fields, such as "name: x".' }
  for (const { key, value } of contents.items) {
    const line = lineOf((isScalar(key) ? key.range?.[0] : undefined) ?? 0)
    if (!isScalar(key) || typeof key.value !== 'string')
      return { line, message: 'A field of the front matter has a name that is not a text.' }
    try {
      fields.set(key.value, { value: isNode(value) ? toPlain(value, document) : undefined, line })
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      return { line, message: `The field "${key.value}" cannot be read: ${why}.` }
    }
  }
  return fields
}

/** Plain JSON. An alias that stands for too much throws. */
function toPlain(node: Node, document: ReturnType<typeof parseDocument>): unknown {
  return node.toJS(document, { maxAliasCount: 100 }) ?? undefined
}

/** Every line a key and its text; undefined if one is something else. */
function readPlainLines(yaml: string): Fields | undefined {
  const fields: Fields = new Map()
  for (const [index, line] of yaml.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const [, key, text = ''] = /^([A-Za-z][\w-]*):(?:\s+(.*))?$/.exec(line) ?? []
    if (key === undefined || fields.has(key) || /^[|>&*!{[]/.test(text)) return undefined
    fields.set(key, { value: text === '' ? undefined : unquote(text.trim()), line: index + firstLine })
  }
  return fields
}

function unquote(text: string): unknown {
  if (/^\d+$/.test(text)) return Number(text)
  const [, , inside] = /^(["'])([^]*)\1$/.exec(text) ?? []
  return inside ?? text
}
