import bash from 'highlight.js/lib/languages/bash'
import css from 'highlight.js/lib/languages/css'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import json from 'highlight.js/lib/languages/json'
import markdown from 'highlight.js/lib/languages/markdown'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'

const grammars = { bash, css, go, ini, json, markdown, python, rust, sql, typescript, xml, yaml }
const lowlight = createLowlight(grammars)

export type Language = keyof typeof grammars

const byExtension: ReadonlyMap<string, Language> = new Map(
  (
    [
      ['bash', 'sh bash zsh'],
      ['css', 'css scss'],
      ['go', 'go'],
      ['ini', 'ini toml'],
      ['json', 'json jsonc jsonl'],
      ['markdown', 'md markdown'],
      ['python', 'py pyi'],
      ['rust', 'rs'],
      ['sql', 'sql'],
      ['typescript', 'ts tsx mts cts js jsx mjs cjs'],
      ['xml', 'xml html svg'],
      ['yaml', 'yml yaml'],
    ] as const
  ).flatMap(([language, extensions]) => extensions.split(' ').map((each) => [each, language] as const)),
)

/** By how the name of a file ends. */
export function languageOf(file: string): Language | undefined {
  return byExtension.get(/\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? '')
}

/** A piece of a line, and what it is in its language, as a class of the style sheet. */
export interface Piece {
  readonly text: string
  readonly kind: string
}

/** A line is colored up to here: longer ones are data. */
const mostCharacters = 1_000

/** The pieces of a line. Together they are the line, whatever stands in it. */
export function colorLine(line: string, language: Language): readonly Piece[] {
  if (line.length > mostCharacters) return [{ text: line, kind: '' }]
  return toPieces(lowlight.highlight(language, line).children, '')
}

type Nodes = ReturnType<typeof lowlight.highlight>['children']

function toPieces(nodes: Nodes, kind: string): Piece[] {
  return nodes.flatMap((node) => {
    if (node.type === 'text') return [{ text: node.value, kind }]
    if (node.type !== 'element') return []
    const names = node.properties['className']
    const own = Array.isArray(names) ? String(names[0]).replace('hljs-', '') : kind
    return toPieces(
      node.children.filter((child) => child.type !== 'comment'),
      own,
    )
  })
}
