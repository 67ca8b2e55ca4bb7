import { createLowlight } from 'lowlight'
import bash from 'highlight.js/lib/languages/bash'
import cpp from 'highlight.js/lib/languages/cpp'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import json from 'highlight.js/lib/languages/json'
import markdown from 'highlight.js/lib/languages/markdown'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'

/** A piece of a line, and the class of its colour. */
export interface Piece {
  readonly text: string
  readonly kind: string | undefined
}

const grammars = {
  bash,
  cpp,
  dockerfile,
  go,
  ini,
  java,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
}
const lowlight = createLowlight(grammars)

/** Beside the names that the grammars have themselves: what files are called. */
const more: Readonly<Record<string, keyof typeof grammars>> = {
  js: 'typescript',
  jsx: 'typescript',
  mjs: 'typescript',
  cjs: 'typescript',
  mts: 'typescript',
  cts: 'typescript',
  javascript: 'typescript',
  c: 'cpp',
  h: 'cpp',
  jsonc: 'json',
  zsh: 'bash',
  conf: 'ini',
}
for (const [alias, language] of Object.entries(more)) lowlight.registerAlias(language, alias)

/** What of a grammar has which colour. All else has none: few colours tell more than many. */
const kinds: Readonly<Record<string, string>> = {
  'hljs-keyword': 'keyword',
  'hljs-built_in': 'keyword',
  'hljs-literal': 'keyword',
  'hljs-selector-tag': 'keyword',
  'hljs-string': 'string',
  'hljs-regexp': 'string',
  'hljs-number': 'string',
  'hljs-comment': 'comment',
  'hljs-quote': 'comment',
  'hljs-attr': 'name',
  'hljs-name': 'name',
  'hljs-section': 'name',
  'hljs-title': 'name',
}

/** What is longer is left without colours, so that no page waits for it. */
const mostCharacters = 100_000

/**
 * The lines of a unified diff as pieces, each line without its first letter; undefined for one without a language that is known. Lines that stay are
 * read together with those that are new, and lines that go with those that stay, so that what spans lines is seen as what it is.
 */
export function colourDiff(body: string): readonly (readonly Piece[] | undefined)[] {
  const lines = body.split('\n')
  const found: (readonly Piece[] | undefined)[] = lines.map(() => undefined)
  if (body.length > mostCharacters) return found
  for (const { language, at, length } of findHunks(lines)) {
    const rows = lines.slice(at, at + length).map((line, index) => ({ line, place: at + index }))
    for (const gone of ['+', '-']) {
      const side = rows.filter(({ line }) => !line.startsWith(gone) && !line.startsWith('\\'))
      const pieces = colour(side.map(({ line }) => line.slice(1)).join('\n'), language)
      for (const [index, { place }] of side.entries()) found[place] ??= pieces[index]
    }
  }
  return found
}

interface Hunk {
  readonly language: string
  readonly at: number
  readonly length: number
}

/** A hunk says how long it is: a line of it that looks like a head is none. */
function findHunks(lines: readonly string[]): Hunk[] {
  const hunks: Hunk[] = []
  let language: string | undefined
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const name = /^(?:\+\+\+ b\/|--- a\/)(.*)/.exec(line)?.[1]
    if (name !== undefined) language = toLanguage(name)
    const [, gone = '1', come = '1'] = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line) ?? []
    if (!line.startsWith('@@ ')) continue
    const length = lengthOf(lines.slice(at + 1), { gone: Number(gone), come: Number(come) })
    if (language !== undefined) hunks.push({ language, at: at + 1, length })
    at += length
  }
  return hunks
}

function lengthOf(lines: readonly string[], left: { gone: number; come: number }): number {
  let length = 0
  for (const line of lines) {
    if (left.gone <= 0 && left.come <= 0) break
    if (!line.startsWith('+') && !line.startsWith('\\')) left.gone--
    if (!line.startsWith('-') && !line.startsWith('\\')) left.come--
    length++
  }
  return length
}

/** By the name of a file; undefined for one that no grammar is for. */
function toLanguage(name: string): string | undefined {
  const file = (name.split('/').at(-1) ?? '').toLowerCase()
  const extension = file.split('.').at(-1) ?? ''
  return [extension, file].find((each) => lowlight.registered(each))
}

function colour(text: string, language: string): Piece[][] {
  const lines: Piece[][] = [[]]
  const walk = (nodes: ReturnType<typeof lowlight.highlight>['children'], kind: string | undefined): void => {
    for (const node of nodes) {
      if (node.type === 'element') {
        const { className } = node.properties
        const [name] = Array.isArray(className) ? className : []
        walk(node.children, kinds[String(name)] ?? kind)
      }
      if (node.type !== 'text') continue
      for (const [index, part] of node.value.split('\n').entries()) {
        if (index > 0) lines.push([])
        if (part !== '') lines.at(-1)?.push({ text: part, kind })
      }
    }
  }
  walk(lowlight.highlight(language, text).children, undefined)
  return lines
}
