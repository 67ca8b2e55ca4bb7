import { hides } from './hides.ts'

/** Each is looked for in the whole page. */
const maxSelectors = 200
/** Rules for what is on a screen; others, such as those for print, say nothing about what a reader sees. */
const shownAtRule = /^@(media\s+(only\s+)?(screen|all)\b|layer\b|supports\b)/i

/** The selectors of a style sheet whose rules hide what they match. Those with a state, such as `:hover`, are left out. */
export function hidingSelectors(sheet: string): string[] {
  const found: string[] = []
  collect(sheet.replaceAll(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, ''), found, 0)
  return found
}

function collect(text: string, found: string[], depth: number): void {
  let at = 0
  while (at < text.length && found.length < maxSelectors) {
    const open = text.indexOf('{', at)
    if (open < 0) return
    const close = findEnd(text, open)
    const prelude = text.slice(at, open).split(';').at(-1)?.trim() ?? ''
    const body = text.slice(open + 1, close)
    if (shownAtRule.test(prelude)) {
      if (depth < 3) collect(body, found, depth + 1)
    } else if (!prelude.startsWith('@') && hides(body))
      found.push(
        ...prelude
          .split(',')
          .map((each) => each.trim())
          .filter(isLasting),
      )
    at = close + 1
  }
}

/** Where the block that opens here ends; the end of the text where it does not. */
function findEnd(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    if (text[at] === '{') depth++
    else if (text[at] === '}' && --depth === 0) return at
  }
  return text.length
}

function isLasting(selector: string): boolean {
  return selector !== '' && selector.length <= 200 && !selector.includes(':')
}
